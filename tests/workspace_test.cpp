// Memory that is kept between calls is as closely watched as memory that is not.
#include "workspace.hpp"

#include <gtest/gtest.h>
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

namespace scaledot::tests {
namespace {

TEST(Workspace, the_sanitizer_knows_what_a_call_may_touch) {
#if defined(__SANITIZE_ADDRESS__)
  float* floats = nullptr;
  const auto is_allowed = [&](std::size_t first) {
    return __asan_address_is_poisoned(floats + first) == 0;
  };
  for (const std::size_t size : {std::size_t{1000}, std::size_t{1} << 20}) {
    { const Workspace larger({}, 3 * size * sizeof(float)); }
    {
      const Workspace workspace({}, size * sizeof(float));
      floats = workspace.floats();
      EXPECT_TRUE(is_allowed(0) && is_allowed(size - 1));
      EXPECT_FALSE(is_allowed(size));
      EXPECT_FALSE(is_allowed(3 * size - 1));
    }
    EXPECT_FALSE(is_allowed(0)) << "no call has it now";
    const Workspace workspace({}, 2 * size * sizeof(float));
    EXPECT_EQ(workspace.floats(), floats) << "it was not kept";
    EXPECT_TRUE(is_allowed(0) && is_allowed(2 * size - 1));
  }
#else
  GTEST_SKIP() << "there is no AddressSanitizer";
#endif
}

}  // namespace
}  // namespace scaledot::tests
