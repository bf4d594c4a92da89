#include "dispatch.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "cpu.hpp"

namespace scaledot {

using kernels::KernelTable;

namespace {

// Best first, and each needs all that those behind it need. A new instruction set is one more line
// here.
constexpr std::array best_first = {
#if defined(__x86_64__)
    &kernels::amx_table,
    &kernels::avx512_table,
    &kernels::avx2_table,
#elif defined(__aarch64__)
    &kernels::neon_table,
#endif
    &kernels::scalar_table,
};

// The place in best_first of the table to use, or one past the last if there is none.
std::size_t place_asked_for() noexcept {
  const char* const name = std::getenv("SCALEDOT_ISA");
  std::size_t place = best_first.size() - usable_tables().size();
  if (name == nullptr || *name == '\0') return place;
  while (place < best_first.size() && std::strcmp(best_first[place]->name, name) != 0) ++place;
  // Who names the tiles must not get something else later.
  const bool is_found = place < best_first.size();
  if (is_found && !best_first[place]->runs_f32 && !tiles_granted()) return best_first.size();
  return place;
}

}  // namespace

std::span<const KernelTable* const> all_tables() noexcept { return best_first; }

std::span<const KernelTable* const> usable_tables() noexcept {
  const std::uint32_t features = cpu().features;
  std::span<const KernelTable* const> usable = best_first;
  while ((usable.front()->needs & ~features) != 0) usable = usable.subspan(1);
  return usable;
}

const KernelTable* table_in_use() noexcept {
  // Two first callers may both find it out; unlike a lock, that cannot be caught by a fork.
  constexpr std::size_t none = best_first.size(), unknown = none + 1;
  static std::atomic<std::size_t> known{unknown};
  std::size_t place = known.load(std::memory_order_relaxed);
  if (place == unknown) {
    const std::size_t found = place_asked_for();
    if (known.compare_exchange_strong(place, found, std::memory_order_relaxed)) place = found;
  }
  return place < none ? best_first[place] : nullptr;
}

const KernelTable& table_for(const KernelTable& table, bool bf16) noexcept {
  const bool is_granted = (table.needs & kernels::amx_tile) == 0 || tiles_granted();
  if (table.runs_f32 || (bf16 && is_granted)) return table;
  const auto replaces = [&](const KernelTable* other) {
    return other->runs_f32 && (other->needs & ~table.needs) == 0;
  };
  return **std::find_if(best_first.begin(), best_first.end(), replaces);
}

}  // namespace scaledot
