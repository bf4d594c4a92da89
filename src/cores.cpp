#include "cores.hpp"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <thread>

#include <fcntl.h>
#include <unistd.h>
#if defined(__linux__)
#include <sched.h>
#endif

#include "scaledot/attention.hpp"

namespace scaledot {

namespace {

// A whole text as a number; `otherwise` if it is none.
std::int64_t number_in(std::string_view text, std::int64_t otherwise) {
  std::int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  return error == std::errc{} && stop == end ? number : otherwise;
}

// What lies before the first `separator`, or all of it; `text` becomes what lies behind.
std::string_view taken(std::string_view& text, char separator) {
  const std::size_t length = std::min(text.find(separator), text.size());
  const std::string_view front = text.substr(0, length);
  text.remove_prefix(std::min(length + 1, text.size()));
  return front;
}

// A small file, without allocation; empty if there is none.
struct File {
  template <class... Names>
  explicit File(const char* format, Names... names) noexcept {
    char path[4096];
    const int length = std::snprintf(path, sizeof path, format, names...);
    if (length < 0 || length >= static_cast<int>(sizeof path)) return;
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    for (ssize_t got; (got = read(file, bytes + size, sizeof bytes - size)) > 0;)
      size += static_cast<std::size_t>(got);
    close(file);
  }
  std::string_view text() const { return {bytes, size}; }

  char bytes[8192];
  std::size_t size = 0;
};

// Microseconds of processor time a period, in processors, rounded up; 0 if there is no limit.
int cores_of(std::string_view quota, std::string_view period) {
  const std::int64_t time = number_in(quota, 0), of = number_in(period, 0);
  if (time <= 0 || of <= 0) return 0;  // "max", -1, or no such file
  return static_cast<int>(std::min<std::int64_t>(time / of + (time % of != 0), INT_MAX));
}

int fewer(int cores, int others) {
  return cores == 0 || others == 0 ? std::max(cores, others) : std::min(cores, others);
}

// The least limit of a cgroup and of those around it, up to where the hierarchy is mounted. In a
// container that mount may be the cgroup itself, and the folders below it are not there.
int least_limit(const char* root, std::string_view mount, std::string_view cgroup) {
  int least = 0;
  for (;; cgroup = cgroup.substr(0, cgroup.rfind('/'))) {
    const auto size = static_cast<int>(mount.size()), length = static_cast<int>(cgroup.size());
    const auto file = [&](const char* name) {
      return File("%s/sys/fs/cgroup/%.*s%.*s/%s", root, size, mount.data(), length, cgroup.data(),
                  name);
    };
    const File both = file("cpu.max"), quota = file("cpu.cfs_quota_us"),
               period = file("cpu.cfs_period_us");
    const auto line = [](std::string_view text) { return taken(text, '\n'); };
    std::string_view rest = line(both.text());
    const std::string_view time = taken(rest, ' ');
    least = fewer(least, cores_of(time, rest));
    least = fewer(least, cores_of(line(quota.text()), line(period.text())));
    if (cgroup.empty() || cgroup.front() != '/') return least;
  }
}

}  // namespace

int cgroup_cores(const char* root) noexcept {
  const File file("%s/proc/self/cgroup", root);
  int least = 0;
  for (std::string_view lines = file.text(); !lines.empty();) {
    std::string_view cgroup = taken(lines, '\n');  // "0::/path" or "4:cpu,cpuacct:/path"
    taken(cgroup, ':');
    const std::string_view controllers = taken(cgroup, ':');
    if (controllers.empty()) {
      least = fewer(least, least_limit(root, "", cgroup));
      least = fewer(least, least_limit(root, "unified", cgroup));
    }
    for (std::string_view rest = controllers; !rest.empty();) {
      if (taken(rest, ',') != "cpu") continue;
      least = fewer(least, least_limit(root, "cpu", cgroup));
      least = fewer(least, least_limit(root, controllers, cgroup));
    }
  }
  return least;
}

int cores_allowed() noexcept {
  int cores = 0;
#if defined(__linux__)
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) cores = CPU_COUNT(&allowed);
#endif
  if (cores == 0) cores = static_cast<int>(std::thread::hardware_concurrency());
  return std::max(fewer(cores, cgroup_cores("")), 1);
}

int default_threads() noexcept {
  // Two first callers may both find it out; unlike a lock, that cannot be caught by a fork.
  static std::atomic<int> known{0};
  int threads = known.load(std::memory_order_relaxed);
  if (threads != 0) return threads;
  const char* const text = std::getenv("SCALEDOT_THREADS");
  const bool is_set = text != nullptr && *text != '\0';
  const std::int64_t number = is_set ? number_in(text, -1) : cores_allowed();
  threads = number >= 1 && number <= most_threads ? static_cast<int>(number) : -1;
  int none = 0;
  return known.compare_exchange_strong(none, threads, std::memory_order_relaxed) ? threads : none;
}

}  // namespace scaledot
