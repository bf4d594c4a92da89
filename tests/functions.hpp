// The vector functions of src/kernels as plain functions of floats, once for each instruction set.
#pragma once

#include "scaledot/attention.hpp"

namespace scaledot::tests {

struct Function {
  const char* name;
  // to[n] = f(a[n], b[n]), denormals flushed; count is a multiple of 16.
  void (*run)(const float* a, const float* b, float* to, Index count);
};

// Lists that end with a null name. Each is in a file of its own, compiled with the flags of the
// kernels of the same name.
extern const Function *const scalar_functions,
    *const avx2_functions, *const avx512_functions, *const amx_functions, *const neon_functions;

// The list for a table's name; null if this build has none.
const Function* functions_of(const char* table);
// One function of such a list.
const Function& function(const Function* list, const char* name);

}  // namespace scaledot::tests
