// The kernel tables that tests run.
#pragma once

#include <span>

#include "kernels/table.hpp"

namespace scaledot::tests {

// All that this machine can run, best first: those that the library may use, and the tile engine on
// emulated tiles.
std::span<const kernels::KernelTable* const> runnable_tables();

// The tile engine on a scalar model of the tile unit, which any processor with AVX-512 runs.
// x86-64 only.
extern const kernels::KernelTable emulated_amx_table;

}  // namespace scaledot::tests
