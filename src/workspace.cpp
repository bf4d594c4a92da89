#include "workspace.hpp"

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#if __has_include(<sanitizer/asan_interface.h>)
#include <sanitizer/asan_interface.h>
#endif

#include "scaledot/attention.hpp"

namespace scaledot {

// The head of a block; what a call gets lies behind it.
struct alignas(64) Block {
  std::size_t bytes;  // head included

  float* floats() noexcept { return reinterpret_cast<float*>(this + 1); }
};

namespace {

constexpr std::size_t huge_page = std::size_t{2} << 20;

// A block that fills huge pages begins with one.
constexpr std::align_val_t alignment(std::size_t bytes) noexcept {
  return std::align_val_t{bytes < huge_page ? alignof(Block) : huge_page};
}

Block* made(std::size_t bytes) noexcept {
  const bool is_huge = bytes >= huge_page;
  if (is_huge) bytes = (bytes + huge_page - 1) / huge_page * huge_page;
  void* const memory = ::operator new(bytes, alignment(bytes), std::nothrow);
  if (memory == nullptr) return nullptr;
#if defined(__linux__)
  if (is_huge) {
    // Where the kernel has none to give, small pages do as well, and the caller need not know.
    const int before = errno;
    madvise(memory, bytes, MADV_HUGEPAGE);
    errno = before;
  }
#endif
  return new (memory) Block{bytes};
}

// AddressSanitizer shall see what a call does outside the bytes that it asked for, and after it.
void allow([[maybe_unused]] Block& block, [[maybe_unused]] std::size_t bytes) noexcept {
#if defined(ASAN_POISON_MEMORY_REGION)
  ASAN_POISON_MEMORY_REGION(block.floats(), block.bytes - sizeof(Block));
  ASAN_UNPOISON_MEMORY_REGION(block.floats(), bytes);
#endif
}

void release(Block* block) noexcept { ::operator delete(block, alignment(block->bytes)); }

// A block is in its place here or some call's, never both: who takes it out has it alone. There is
// no lock that a fork could catch, and no thread has a block that would have to be freed with it.
constinit std::atomic<Block*> kept[most_kept_blocks] = {};
constinit std::atomic<bool> ended{false};

void keep(Block* block) noexcept {
  allow(*block, 0);
  if (block->bytes <= most_kept_bytes && !ended.load(std::memory_order_relaxed)) {
    for (std::atomic<Block*>& place : kept) {
      Block* none = nullptr;
      if (place.compare_exchange_strong(none, block, std::memory_order_release,
                                        std::memory_order_relaxed))
        return;
    }
  }
  release(block);
}

// The first that is large enough, or null. Then the smallest is freed, so that the block made in
// its stead has a place. Those too small leave their places for a moment, since only who has taken
// a block may look at it.
Block* taken(std::size_t bytes) noexcept {
  Block* smallest = nullptr;
  for (std::atomic<Block*>& place : kept) {
    if (place.load(std::memory_order_relaxed) == nullptr) continue;
    Block* block = place.exchange(nullptr, std::memory_order_acquire);
    if (block == nullptr) continue;
    if (block->bytes >= bytes) {
      if (smallest != nullptr) keep(smallest);
      return block;
    }
    if (smallest == nullptr || block->bytes < smallest->bytes) std::swap(smallest, block);
    if (block != nullptr) keep(block);
  }
  if (smallest != nullptr) release(smallest);
  return nullptr;
}

// When the process exits or the library is unloaded, nothing may be left behind, not even by calls
// that come after this.
struct KeptLife {
  ~KeptLife() {
    ended = true;
    release_memory();
  }
};
const KeptLife kept_life;

}  // namespace

void release_memory() noexcept {
  for (std::atomic<Block*>& place : kept)
    if (Block* const block = place.exchange(nullptr, std::memory_order_acquire)) release(block);
}

Workspace::Workspace(std::span<std::byte> given, std::size_t bytes) noexcept {
  if (!given.empty()) {
    void* memory = given.data();
    std::size_t space = given.size();
    floats_ = static_cast<float*>(std::align(alignof(Block), 1, memory, space));
    return;
  }
  const std::size_t with_head = bytes + sizeof(Block);
  if (with_head <= most_kept_bytes) block_ = taken(with_head);
  if (block_ == nullptr) block_ = made(with_head);
  if (block_ == nullptr) return;
  allow(*block_, bytes);
  floats_ = block_->floats();
}

Workspace::~Workspace() {
  if (block_ != nullptr) keep(block_);
}

}  // namespace scaledot
