// Every operator new of the program that this is linked into counts, and fails when it is told to.
#pragma once

#include <atomic>
#include <limits>

namespace scaledot::tests {

inline constexpr long all_allocations = std::numeric_limits<long>::max();

inline std::atomic<long> allocations{0}, releases{0};
inline std::atomic<long> allowed{all_allocations};  // until they fail

inline long live() { return allocations - releases; }

}  // namespace scaledot::tests
