#include "cpu.hpp"

#include <atomic>
#include <cstring>

#if defined(__linux__)
#include <sys/syscall.h>
#endif
#include <unistd.h>

#include "kernels/table.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace scaledot {

#if defined(__x86_64__)

namespace {

struct Registers {
  std::uint32_t eax = 0, ebx = 0, ecx = 0, edx = 0;
};

Registers cpuid(std::uint32_t leaf, std::uint32_t subleaf = 0) noexcept {
  Registers r;
  __get_cpuid_count(leaf, subleaf, &r.eax, &r.ebx, &r.ecx, &r.edx);  // zeros if there is no leaf
  return r;
}

// The register states that the operating system saves (Intel SDM volume 1, chapter 13).
std::uint64_t saved_states() noexcept {
  std::uint32_t low, high;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return std::uint64_t{high} << 32 | low;
}

constexpr bool bit(std::uint32_t bits, int place) { return (bits >> place & 1) != 0; }

}  // namespace

Cpu cpu() noexcept {
  Cpu found;
  for (std::uint32_t part = 0; part < 3; ++part) {
    const Registers r = cpuid(0x80000002u + part);
    std::memcpy(found.name.data() + 16 * part, &r, sizeof r);
  }
  const Registers one = cpuid(1), seven = cpuid(7);
  if (!bit(one.ecx, 27)) return found;  // OSXSAVE: no xgetbv, so no wide registers
  const std::uint64_t saved = saved_states();
  const bool saves_ymm = (saved & 0x6) == 0x6, saves_zmm = (saved & 0xE6) == 0xE6;
  const auto add = [&](bool has, std::uint32_t feature) {
    if (has) found.features |= feature;
  };
  add(saves_ymm && bit(seven.ebx, 5), kernels::avx2);
  add(saves_ymm && bit(one.ecx, 12), kernels::fma);
  add(saves_ymm && bit(one.ecx, 29), kernels::f16c);
  add(saves_zmm && bit(seven.ebx, 16), kernels::avx512f);
  add(saves_zmm && bit(seven.ebx, 30), kernels::avx512bw);
  add(saves_zmm && bit(seven.ebx, 17), kernels::avx512dq);
  add(saves_zmm && bit(seven.ebx, 31), kernels::avx512vl);
  const bool saves_tiles = (saved & 0x60000) == 0x60000;
  add(saves_tiles && bit(seven.edx, 24), kernels::amx_tile);
  add(saves_tiles && bit(seven.edx, 22), kernels::amx_bf16);
  found.amx_bf16 = bit(seven.edx, 22) && bit(seven.edx, 24);
  found.amx_saved = saves_tiles;
  return found;
}

#else

Cpu cpu() noexcept {
  Cpu found;
  found.features = kernels::neon;  // part of the 64-bit Arm base
  std::memcpy(found.name.data(), "64-bit Arm", sizeof "64-bit Arm");
  return found;
}

#endif

bool tiles_granted() noexcept {
#if defined(__x86_64__) && defined(__linux__)
  constexpr long request = 0x1023, tile_data = 18;  // ARCH_REQ_XCOMP_PERM, XTILEDATA
  enum : int { unknown, no, yes };
  static std::atomic<int> known{unknown};  // two first callers may both ask
  int answer = known.load(std::memory_order_relaxed);
  if (answer == unknown) {
    answer = syscall(SYS_arch_prctl, request, tile_data) == 0 ? yes : no;
    known.store(answer, std::memory_order_relaxed);
  }
  return answer == yes;
#else
  return false;
#endif
}

std::size_t cache_bytes(int level) noexcept {
#if defined(_SC_LEVEL1_DCACHE_SIZE)
  const int names[] = {_SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL2_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE};
  if (level >= 1 && level <= 3) {
    const long bytes = sysconf(names[level - 1]);
    return bytes > 0 ? static_cast<std::size_t>(bytes) : 0;
  }
#endif
  return 0;
}

}  // namespace scaledot
