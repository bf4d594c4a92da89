#include "functions_list.hpp"
#include "kernels/simd_avx2.hpp"

namespace scaledot::tests {

const Function* const avx2_functions = function_list<kernels::Avx2>;

}  // namespace scaledot::tests
