// What a call of attend() runs on, as far as a caller can know it.
#pragma once

namespace scaledot::cli {

// The name of the instruction set; empty if SCALEDOT_ISA names none that is usable.
const char* isa_in_use();

// The threads that Options::threads stands for, valid as it is.
int threads_in_use(int threads);

}  // namespace scaledot::cli
