#include "in_use.hpp"

#include "scaledot/machine.hpp"

namespace scaledot::cli {

const char* isa_in_use(Arithmetic arithmetic) {
  for (const InstructionSet& set : machine().instruction_sets)
    if (set.in_use && !(set.only_bf16 && arithmetic == Arithmetic::f32))
      return set.name;  // a literal of the library
  return "";
}

int threads_in_use(int threads) { return threads > 0 ? threads : machine().threads; }

}  // namespace scaledot::cli
