#include "kernels/simd_scalar.hpp"
#include "kernels/table_of.hpp"

namespace scaledot::kernels {

const KernelTable scalar_table = table_of<Scalar>("scalar", 0);

}  // namespace scaledot::kernels
