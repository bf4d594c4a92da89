#include "guarded.hpp"

#include <array>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include <sys/mman.h>
#include <unistd.h>

namespace scaledot::tests {
namespace {

std::array<char, 512> replay{};

extern "C" void print_replay(int number) {
  [[maybe_unused]] ssize_t written =
      write(STDERR_FILENO, replay.data(), std::strlen(replay.data()));
  std::signal(number, SIG_DFL);  // and the access is made again
}

void check(bool good) {
  if (!good) std::abort();
}

}  // namespace

std::size_t page_bytes() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

Guarded::Guarded(std::size_t bytes, Edge edge)
    : bytes_(bytes), inner_((bytes + page_bytes() - 1) / page_bytes() * page_bytes()) {
  void* mapping =
      mmap(nullptr, inner_ + 2 * page_bytes(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  check(mapping != MAP_FAILED);
  mapping_ = static_cast<std::byte*>(mapping);
  std::byte* inner = mapping_ + page_bytes();
  check(inner_ == 0 || mprotect(inner, inner_, PROT_READ | PROT_WRITE) == 0);
  data_ = edge == Edge::begin ? inner : inner + inner_ - bytes;
  std::memset(inner, 0xFF, inner_);
}

Guarded::~Guarded() { munmap(mapping_, inner_ + 2 * page_bytes()); }

void Guarded::forbid_writing() {
  check(inner_ == 0 || mprotect(mapping_ + page_bytes(), inner_, PROT_READ) == 0);
}

void forbid_page(void* address) {
  auto* page = static_cast<std::byte*>(address);
  page -= reinterpret_cast<std::uintptr_t>(page) % page_bytes();
  check(mprotect(page, page_bytes(), PROT_NONE) == 0);
}

void replay_by(const char* line) {
  std::strncpy(replay.data(), line, replay.size() - 1);
  std::signal(SIGSEGV, print_replay);
  std::signal(SIGBUS, print_replay);
}

}  // namespace scaledot::tests
