#include "functions_list.hpp"
#include "kernels/simd_amx.hpp"

namespace scaledot::tests {

const Function* const amx_functions = function_list<kernels::Amx>;

}  // namespace scaledot::tests
