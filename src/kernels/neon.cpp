#include "kernels/simd_neon.hpp"
#include "kernels/table_of.hpp"

namespace scaledot::kernels {

const KernelTable neon_table = table_of<Neon>("neon", neon);

}  // namespace scaledot::kernels
