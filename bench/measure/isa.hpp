// Which instruction set runs what.
#pragma once

#include "scaledot/attention.hpp"
#include "scaledot/machine.hpp"

namespace scaledot::measure {

// The name of the one that runs an arithmetic, which is not `automatic`; empty if SCALEDOT_ISA
// names none that is usable.
inline const char* isa_for(Arithmetic arithmetic) {
  for (const InstructionSet& set : machine().instruction_sets)
    if (set.in_use && !(set.only_bf16 && arithmetic == Arithmetic::f32))
      return set.name;  // a literal of the library
  return "";
}

}  // namespace scaledot::measure
