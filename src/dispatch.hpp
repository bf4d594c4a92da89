// The kernel tables of this build, and the one attend() runs on.
#pragma once

#include <span>

#include "kernels/table.hpp"

namespace scaledot {

// Every table of this build, best first, usable here or not.
std::span<const kernels::KernelTable* const> all_tables() noexcept;

// Those that this processor and operating system can run, best first.
std::span<const kernels::KernelTable* const> usable_tables() noexcept;

// The one SCALEDOT_ISA names, or the best usable one if it is not set or empty; null if it names
// none that is usable. Asked of the environment once a process.
const kernels::KernelTable* table_in_use() noexcept;

// The table that runs an arithmetic in the place of `table`: that one, or the next best if it has
// only tiles, which f32 does not run on and which the operating system may refuse.
const kernels::KernelTable& table_for(const kernels::KernelTable& table, bool bf16) noexcept;

}  // namespace scaledot
