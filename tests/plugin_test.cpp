// A module that contains the library is loaded, used and unloaded: no thread may be left behind,
// since its code is gone, and no memory, since nobody knows of it any more.
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <iterator>
#include <new>
#include <string>
#include <thread>

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace {

std::atomic<int> blocks{0};  // that the library has

}  // namespace

// In the library's place too, which allocates in this way alone.
void* operator new(std::size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  ++blocks;
  const auto multiple = static_cast<std::size_t>(alignment);
  return std::aligned_alloc(multiple, (bytes + multiple - 1) / multiple * multiple);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  --blocks;
  std::free(memory);
}

namespace scaledot::tests {
namespace {

std::ptrdiff_t threads_of_process() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/task"), {});
}

// Waits for it: a thread that has been joined may be listed for a moment longer.
bool becomes(const std::function<bool()>& condition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::yield();
  }
  return true;
}

// ThreadSanitizer starts a thread of its own with the first one, which stays.
void start_what_stays() {
  pid_t id = 0;
  std::thread([&id] { id = gettid(); }).join();
  const std::filesystem::path listed = "/proc/self/task/" + std::to_string(id);
  ASSERT_TRUE(becomes([&] { return !std::filesystem::exists(listed); }));
}

TEST(Plugin, nothing_is_left_when_it_is_unloaded) {
  start_what_stays();
  const std::ptrdiff_t before = threads_of_process();
  for (int n = 0; n < 20; ++n) {
    void* const plugin = dlopen(SCALEDOT_PLUGIN, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(plugin, nullptr) << dlerror();
    const auto attend = reinterpret_cast<int (*)()>(dlsym(plugin, "attend_in_plugin"));
    ASSERT_NE(attend, nullptr);
    ASSERT_EQ(attend(), 1);
    EXPECT_EQ(threads_of_process(), before + 1);
    EXPECT_EQ(blocks, 1) << "kept for a later call";
    ASSERT_EQ(dlclose(plugin), 0);
    ASSERT_EQ(dlopen(SCALEDOT_PLUGIN, RTLD_NOW | RTLD_NOLOAD), nullptr) << "it is still loaded";
    EXPECT_EQ(blocks, 0);
    ASSERT_TRUE(becomes([&] { return threads_of_process() == before; }));
  }
}

}  // namespace
}  // namespace scaledot::tests
