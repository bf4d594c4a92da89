// The built program, run in a folder with the tensors of one call, and what the library says of it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "array.hpp"
#include "file_bytes.hpp"
#include "scaledot/attention.hpp"

namespace scaledot::cli::tests {

using Words = std::vector<std::string>;

// What to run, and how.
struct Run {
  Words arguments;
  Words environment = {};                        // "NAME=value", beside that of the test
  std::string stdout_file = {};                  // instead of being caught
  std::optional<std::size_t> largest_file = {};  // as the operating system's limit, in bytes
};

struct Ran {
  int code = -1;  // 1000 and the signal if one ended it
  std::string output, errors;
};

// Runs the program in the folder.
Ran run(const Folder& folder, const Run& run);

// Random numbers of a normal distribution; an f16 or bf16 of their leading bits. Booleans are true
// three times in four.
Array random_array(Element element, std::vector<Index> extents, unsigned seed);

// The tensors of one call. A query sees other keys with each kind of causal: there are more of
// them.
struct Example {
  explicit Example(Element element = Element::f32, std::size_t rank = 4);

  Array query, key, value;
  std::optional<Array> mask, bias;
  std::optional<std::vector<Index>> key_lengths;
  Options options;
};

struct Outcome {
  Array output, lse, weights;
};

// The library called directly. Output and weights have query's type.
Outcome outcome(const Example& example);

// Writes query, key and value into q.npy, k.npy and v.npy, or a format that knows their type.
void save(const Folder& folder, const Example& example, const std::string& ending = ".npy");
void save(const Folder& folder, const std::string& name, const Array& array);

// "attend --query q.npy --key k.npy --value v.npy --output o.npy" and more.
Words attend_words(const Words& more = {}, const std::string& ending = ".npy");

}  // namespace scaledot::cli::tests
