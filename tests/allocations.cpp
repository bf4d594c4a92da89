#include "allocations.hpp"

#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

using namespace scaledot::tests;

void* allocated(std::size_t bytes, std::size_t alignment) noexcept {
  if (allowed-- <= 0) return nullptr;
  ++allocations;
  const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  return alignment <= alignof(std::max_align_t) ? std::malloc(bytes > 0 ? bytes : 1)
                                                : std::aligned_alloc(alignment, rounded);
}

void* allocated_or_thrown(std::size_t bytes, std::size_t alignment) {
  if (void* memory = allocated(bytes, alignment)) return memory;
  throw std::bad_alloc();
}

void release(void* memory) noexcept {
  if (memory == nullptr) return;
  ++releases;
  std::free(memory);
}

constexpr std::size_t of(std::align_val_t alignment) { return static_cast<std::size_t>(alignment); }

}  // namespace

void* operator new(std::size_t n) { return allocated_or_thrown(n, 1); }
void* operator new[](std::size_t n) { return allocated_or_thrown(n, 1); }
void* operator new(std::size_t n, std::align_val_t a) { return allocated_or_thrown(n, of(a)); }
void* operator new[](std::size_t n, std::align_val_t a) { return allocated_or_thrown(n, of(a)); }
void* operator new(std::size_t n, const std::nothrow_t&) noexcept { return allocated(n, 1); }
void* operator new[](std::size_t n, const std::nothrow_t&) noexcept { return allocated(n, 1); }
void* operator new(std::size_t n, std::align_val_t a, const std::nothrow_t&) noexcept {
  return allocated(n, of(a));
}
void* operator new[](std::size_t n, std::align_val_t a, const std::nothrow_t&) noexcept {
  return allocated(n, of(a));
}
void operator delete(void* memory) noexcept { release(memory); }
void operator delete[](void* memory) noexcept { release(memory); }
void operator delete(void* memory, std::size_t) noexcept { release(memory); }
void operator delete[](void* memory, std::size_t) noexcept { release(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { release(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { release(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { release(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { release(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { release(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { release(memory); }
