// What `scaledot attend` says when it is done.
#pragma once

#include <optional>

#include "attend.hpp"
#include "inputs.hpp"

namespace scaledot::cli {

struct Results {
  Array output;
  std::optional<Array> lse, weights;
};

struct Report {
  const AttendArguments& arguments;
  const Inputs& inputs;
  const Results& results;
  const Notes& notes;
  double microseconds;
};

// Prints a line a file, or one JSON object, to stdout.
void report(const Report& report);

}  // namespace scaledot::cli
