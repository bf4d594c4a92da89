#include "kernels/simd_neon.hpp"
#include "measure/loops_of.hpp"

namespace scaledot::measure {

const Loops neon_loops = loops_of<kernels::Neon>("neon");

}  // namespace scaledot::measure
