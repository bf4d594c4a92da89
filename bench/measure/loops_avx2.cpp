#include "kernels/simd_avx2.hpp"
#include "measure/loops_of.hpp"

namespace scaledot::measure {

const Loops avx2_loops = loops_of<kernels::Avx2>("avx2");

}  // namespace scaledot::measure
