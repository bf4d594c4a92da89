#include "functions_list.hpp"
#include "kernels/simd_avx512.hpp"

namespace scaledot::tests {

const Function* const avx512_functions = function_list<kernels::Avx512>;

}  // namespace scaledot::tests
