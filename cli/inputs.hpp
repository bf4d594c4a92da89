// What `scaledot attend` reads: tensors of the types that the library takes.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "attend.hpp"
#include "convert.hpp"
#include "tensor_file.hpp"

namespace scaledot::cli {

struct Inputs {
  Array query, key, value;
  std::optional<Array> mask, bias;
  std::optional<std::vector<Index>> key_lengths;
  std::map<std::string, Element> in_file;  // the types before f64 was rounded, by argument
};

// The files that the caller names.
std::vector<Argument> inputs_of(const AttendArguments& arguments);

Inputs read_inputs(const AttendArguments& arguments, Notes& notes);

}  // namespace scaledot::cli
