#include "measure/loops.hpp"

#include <string_view>

#include "scaledot/machine.hpp"

namespace scaledot::measure {

namespace {

constexpr const Loops* all_loops[] = {
#if defined(__x86_64__)
    &avx512_loops, &avx2_loops,
#elif defined(__aarch64__)
    &neon_loops,
#endif
    &scalar_loops};

}  // namespace

const Loops* loops_in_use() {
  const Machine found = machine();
  for (const InstructionSet& isa : found.instruction_sets) {
    if (!isa.in_use) continue;
    for (const Loops* loops : all_loops)
      if (std::string_view(loops->isa) == isa.name) return loops;
  }
  return nullptr;
}

}  // namespace scaledot::measure
