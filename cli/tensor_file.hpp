// Tensors by the names that a caller gives them: a file, and the tensor's name in it.
#pragma once

#include <string>
#include <vector>

#include "array.hpp"

namespace scaledot::cli {

enum class Format { npy, npz, safetensors };

// "file.npy", "file.npz:name" or "file.safetensors:name", taken apart.
struct TensorName {
  std::string path;
  Format format = Format::npy;
  std::string name;  // empty if none is given
};

// Refuses any other ending; capitals in it do not matter. A path may hold colons: the name begins
// after the first ".npz:" or ".safetensors:".
TensorName parse_tensor_name(const std::string& text);

// An array, and for which argument it is: "query".
struct Argument {
  std::string argument;
  std::string text;  // as the caller gave it
};

// Without a name in the text it is the tensor named as the argument, or else the only one.
Array read_array(const Argument& from);

struct Target {
  Argument argument;
  const Array* array;
};

// Refuses to write a tensor to the place of another one or of an input, and to places that cannot
// be written.
void check_targets(const std::vector<Argument>& targets, const std::vector<Argument>& inputs);

// Writes all of them or, if something fails, none. Without a name in the text it is the argument's.
// Other tensors in the files are kept.
void write_arrays(const std::vector<Target>& targets);

}  // namespace scaledot::cli
