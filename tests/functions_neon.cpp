#include "functions_list.hpp"
#include "kernels/simd_neon.hpp"

namespace scaledot::tests {

const Function* const neon_functions = function_list<kernels::Neon>;

}  // namespace scaledot::tests
