// An array and its name in a file that holds several.
#pragma once

#include <string>

#include "array.hpp"

namespace scaledot::cli {

struct NamedArray {
  std::string name;
  const Array* array;
};

}  // namespace scaledot::cli
