#include "kernels/simd_avx512.hpp"
#include "kernels/table_of.hpp"

namespace scaledot::kernels {

const KernelTable avx512_table =
    table_of<Avx512>("avx512", avx2 | fma | f16c | avx512f | avx512bw | avx512dq | avx512vl);

}  // namespace scaledot::kernels
