// Memory that is kept between calls: how much, for whom, and what takes it.
#include <gtest/gtest.h>
#if defined(__linux__)
#include <sys/mman.h>
#endif

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "allocations.hpp"
#include "scaledot/attention.hpp"
#include "workspace.hpp"

#if defined(__linux__)
// As where the kernel has no huge pages.
extern "C" int madvise(void*, std::size_t, int) noexcept {
  errno = EINVAL;
  return -1;
}
#endif

namespace scaledot::tests {
namespace {

TEST(Memory, what_is_kept_is_bounded) {
  const auto left_by = [](std::size_t count, std::size_t bytes) {
    release_memory();
    const long none = live();
    {
      std::vector<std::unique_ptr<Workspace>> calls(count);
      for (auto& call : calls) call = std::make_unique<Workspace>(std::span<std::byte>(), bytes);
    }
    return live() - none;
  };
  EXPECT_EQ(left_by(3, 1000), 3);
  EXPECT_EQ(left_by(most_kept_blocks + 3, 1000), static_cast<long>(most_kept_blocks));
  EXPECT_EQ(left_by(1, most_kept_bytes - 64), 1) << "with its head it is as large as may be";
  EXPECT_EQ(left_by(1, most_kept_bytes - 63), 0);
  release_memory();
}

TEST(Memory, a_block_too_small_makes_way) {
  release_memory();
  const long none = live(), before = allocations;
  for (const std::size_t bytes : {1000u, 2000u, 1500u, 2000u}) {
    const Workspace call({}, bytes);
    EXPECT_EQ(live(), none + 1) << bytes;
  }
  EXPECT_EQ(allocations, before + 2);
  { const Workspace call({}, most_kept_bytes); }
  { const Workspace call({}, 2000); }
  EXPECT_EQ(allocations, before + 3) << "a call of a size that is not kept took what was";
  release_memory();
}

TEST(Memory, a_kept_block_that_is_large_enough_is_found_behind_others) {
  release_memory();
  {
    const Workspace large({}, 5000), small({}, 1000), smaller({}, 500);  // kept last to first
  }
  const long kept = live(), before = allocations;
  { const Workspace call({}, 3000); }
  EXPECT_EQ(allocations, before);
  EXPECT_EQ(live(), kept) << "what is too small was freed though nothing takes its place";
  { const Workspace call({}, 6000); }
  EXPECT_EQ(allocations, before + 1);
  EXPECT_EQ(live(), kept);
  { const Workspace first({}, 6000), second({}, 5000), third({}, 1000); }
  EXPECT_EQ(allocations, before + 1) << "another than the smallest made way";
  release_memory();
}

TEST(Memory, the_caller_keeps_its_errno_where_there_are_no_huge_pages) {
  release_memory();
  errno = EDOM;
  { const Workspace call({}, 5u << 20); }
  EXPECT_EQ(errno, EDOM);
  release_memory();
}

TEST(Memory, calls_at_once_have_memory_of_their_own) {
  std::atomic<int> wrong{0};
  std::vector<std::thread> callers;
  for (int n = 0; n < 12; ++n)
    callers.emplace_back([&wrong, n] {
      for (int run = 0; run < 500; ++run) {
        const std::size_t floats = static_cast<std::size_t>(16 + (run * 7 + n) % 50);
        const Workspace call({}, floats * sizeof(float));
        std::fill_n(call.floats(), floats, static_cast<float>(n));
        if (run % 8 == 0) std::this_thread::yield();
        wrong += std::count(call.floats(), call.floats() + floats, static_cast<float>(n)) !=
                 static_cast<std::ptrdiff_t>(floats);
        if (run % 50 == n) release_memory();
      }
    });
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Memory, blocks_are_aligned) {
  const auto address = [](std::size_t bytes) {
    release_memory();
    return reinterpret_cast<std::uintptr_t>(Workspace({}, bytes).floats());
  };
  for (const std::size_t bytes : {64u, 1000u, 1u << 20}) EXPECT_EQ(address(bytes) % 64, 0u);
  for (const std::size_t bytes : {2u << 20, 5u << 20})
    EXPECT_EQ(address(bytes) % (2 << 20), 64u) << "the head fills what is before it";
  release_memory();
}

}  // namespace
}  // namespace scaledot::tests
