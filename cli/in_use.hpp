// What a call of attend() runs on, as far as a caller can know it.
#pragma once

#include "scaledot/attention.hpp"

namespace scaledot::cli {

// The name of the instruction set that runs an arithmetic, which is not `automatic`; empty if
// SCALEDOT_ISA names none that is usable.
const char* isa_in_use(Arithmetic arithmetic);

// The threads that Options::threads stands for, valid as it is.
int threads_in_use(int threads);

}  // namespace scaledot::cli
