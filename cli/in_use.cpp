#include "in_use.hpp"

#include <cstdlib>

#include "scaledot/machine.hpp"

namespace scaledot::cli {

const char* isa_in_use() {
  for (const InstructionSet& set : machine().instruction_sets)
    if (set.in_use) return set.name;  // a literal of the library
  return "";
}

int threads_in_use(int threads) {
  if (threads > 0) return threads;
  const char* wanted = std::getenv("SCALEDOT_THREADS");
  return wanted == nullptr || *wanted == '\0' ? machine().cores : std::atoi(wanted);
}

}  // namespace scaledot::cli
