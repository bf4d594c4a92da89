#include "kernels/tile_engine.hpp"

#include "kernels/table_of.hpp"

namespace scaledot::kernels {

const KernelTable amx_table = table_of<Amx>(
    "amx", avx2 | fma | f16c | avx512f | avx512bw | avx512dq | avx512vl | amx_tile | amx_bf16);

}  // namespace scaledot::kernels
