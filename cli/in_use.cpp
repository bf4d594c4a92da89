#include "in_use.hpp"

#include "scaledot/machine.hpp"

namespace scaledot::cli {

const char* isa_in_use() {
  for (const InstructionSet& set : machine().instruction_sets)
    if (set.in_use) return set.name;  // a literal of the library
  return "";
}

int threads_in_use(int threads) { return threads > 0 ? threads : machine().threads; }

}  // namespace scaledot::cli
