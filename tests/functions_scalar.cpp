#include "functions_list.hpp"
#include "kernels/simd_scalar.hpp"

namespace scaledot::tests {

const Function* const scalar_functions = function_list<kernels::Scalar>;

}  // namespace scaledot::tests
