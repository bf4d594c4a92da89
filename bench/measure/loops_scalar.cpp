#include "kernels/simd_scalar.hpp"
#include "measure/loops_of.hpp"

namespace scaledot::measure {

const Loops scalar_loops = loops_of<kernels::Scalar>("scalar");

}  // namespace scaledot::measure
