#include "dispatch.hpp"

#include <array>
#include <cstdlib>
#include <cstring>

#include "cpu.hpp"

namespace scaledot {

using kernels::KernelTable;

namespace {

// Best first. A new instruction set is one more line here.
constexpr std::array best_first = {
#if defined(__x86_64__)
    &kernels::avx512_table,
    &kernels::avx2_table,
#elif defined(__aarch64__)
    &kernels::neon_table,
#endif
    &kernels::scalar_table,
};

struct Usable {
  std::array<const KernelTable*, best_first.size()> tables{};
  std::size_t count = 0;
};

}  // namespace

std::span<const KernelTable* const> all_tables() noexcept { return best_first; }

std::span<const KernelTable* const> usable_tables() noexcept {
  static const Usable usable = [] {
    Usable found;
    for (const KernelTable* table : best_first)
      if ((table->needs & ~cpu().features) == 0) found.tables[found.count++] = table;
    return found;
  }();
  return {usable.tables.data(), usable.count};
}

const KernelTable* table_in_use() noexcept {
  static const KernelTable* const chosen = []() -> const KernelTable* {
    const char* name = std::getenv("SCALEDOT_ISA");
    if (name == nullptr || *name == '\0') return usable_tables().front();
    for (const KernelTable* table : usable_tables())
      if (std::strcmp(table->name, name) == 0) return table;
    return nullptr;
  }();
  return chosen;
}

}  // namespace scaledot
