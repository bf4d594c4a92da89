#include "scaledot/machine.hpp"

#include <algorithm>
#include <string_view>

#include "cores.hpp"
#include "cpu.hpp"
#include "dispatch.hpp"

#if defined(__x86_64__) && defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace scaledot {

namespace {

// Whether Linux lets this process use the tiles, if it asks; asking changes nothing yet.
bool amx_may_be_granted() noexcept {
#if defined(__x86_64__) && defined(__linux__)
  constexpr long ask_supported = 0x1021;  // ARCH_GET_XCOMP_SUPP
  unsigned long features = 0;
  return syscall(SYS_arch_prctl, ask_supported, &features) == 0 && (features >> 18 & 1) != 0;
#else
  return false;
#endif
}

const char* why_not(const kernels::KernelTable& table, const Cpu& cpu, bool amx_granted) noexcept {
  const kernels::KernelTable* const in_use = table_in_use();
  if (!table.runs_f32 && cpu.amx_bf16 && !amx_granted)
    return "the operating system does not grant the tiles";
  if (in_use != nullptr && (&table == in_use || &table == &table_for(*in_use, false))) return "";
  if ((table.needs & ~cpu.features) != 0)
    return "the processor or the operating system lacks a feature it needs";
  if (in_use == nullptr || in_use != usable_tables().front()) return "SCALEDOT_ISA names another";
  return "a better one is usable";
}

}  // namespace

Machine machine() noexcept {
  const Cpu cpu = scaledot::cpu();
  Machine machine;
  machine.processor = cpu.name;
  machine.cores = cores_allowed();
  machine.threads = std::max(default_threads(), 0);
  machine.l1_bytes = cache_bytes(1);
  machine.l2_bytes = cache_bytes(2);
  machine.l3_bytes = cache_bytes(3);
  machine.amx_bf16 = cpu.amx_bf16;
  machine.amx_granted = cpu.amx_bf16 && cpu.amx_saved && amx_may_be_granted();

  constexpr const char* known[] = {"amx", "avx512", "avx2", "neon", "scalar"};
  for (std::size_t k = 0; k < machine.instruction_sets.size(); ++k) {
    InstructionSet& set = machine.instruction_sets[k];
    set = {known[k], false, "made for another kind of processor", false};
    for (const kernels::KernelTable* table : all_tables()) {
      if (std::string_view(table->name) != known[k]) continue;
      const char* const why = why_not(*table, cpu, machine.amx_granted);
      set = {known[k], *why == 0, why, !table->runs_f32};
    }
  }
  return machine;
}

const char* version() noexcept { return SCALEDOT_VERSION; }

}  // namespace scaledot
