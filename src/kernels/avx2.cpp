#include "kernels/simd_avx2.hpp"
#include "kernels/table_of.hpp"

namespace scaledot::kernels {

const KernelTable avx2_table = table_of<Avx2>("avx2", avx2 | fma | f16c);

}  // namespace scaledot::kernels
