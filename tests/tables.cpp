// The tables of the library and those of the tests.
#include "tables.hpp"

#include <algorithm>
#include <vector>

#include "dispatch.hpp"

namespace scaledot::tests {

std::span<const kernels::KernelTable* const> runnable_tables() {
  static const std::vector<const kernels::KernelTable*> tables = [] {
    const auto usable = usable_tables();
    std::vector<const kernels::KernelTable*> all(usable.begin(), usable.end());
#if defined(__x86_64__)
    if (std::find(all.begin(), all.end(), &kernels::avx512_table) != all.end())
      all.insert(all.begin() + (all.front() == &kernels::amx_table), &emulated_amx_table);
#endif
    return all;
  }();
  return tables;
}

}  // namespace scaledot::tests
