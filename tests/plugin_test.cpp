// A module that contains the library is loaded, used and unloaded: no thread may be left behind,
// since its code is gone.
#include <cstdlib>
#include <filesystem>
#include <iterator>

#include <dlfcn.h>
#include <gtest/gtest.h>

namespace scaledot::tests {
namespace {

std::ptrdiff_t threads_of_process() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/task"), {});
}

TEST(Plugin, its_threads_end_when_it_is_unloaded) {
  const std::ptrdiff_t before = threads_of_process();
  for (int n = 0; n < 20; ++n) {
    void* const plugin = dlopen(SCALEDOT_PLUGIN, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(plugin, nullptr) << dlerror();
    const auto attend = reinterpret_cast<int (*)()>(dlsym(plugin, "attend_in_plugin"));
    ASSERT_NE(attend, nullptr);
    ASSERT_EQ(attend(), 1);
    EXPECT_EQ(threads_of_process(), before + 1);
    ASSERT_EQ(dlclose(plugin), 0);
    ASSERT_EQ(dlopen(SCALEDOT_PLUGIN, RTLD_NOW | RTLD_NOLOAD), nullptr) << "it is still loaded";
    ASSERT_EQ(threads_of_process(), before);
  }
}

}  // namespace
}  // namespace scaledot::tests
