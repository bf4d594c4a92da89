#include "kernels/simd_avx512.hpp"
#include "measure/loops_of.hpp"

namespace scaledot::measure {

const Loops avx512_loops = loops_of<kernels::Avx512>("avx512");

}  // namespace scaledot::measure
