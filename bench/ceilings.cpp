// What bench/peers calls from Python beside the C ABI: the ceilings, and the processor's name.
#include <cstddef>
#include <span>

#include "measure/ceiling.hpp"
#include "scaledot/export.h"
#include "scaledot/machine.hpp"

using namespace scaledot;

extern "C" {

// Operations a second of multiply-adds on so many threads; 0 without a usable instruction set.
SCALEDOT_EXPORT double scaledot_bench_peak_flops(int threads) {
  const measure::Loops* loops = measure::loops_in_use();
  if (loops == nullptr) return 0;
  measure::Team team(threads);
  return measure::peak_flops(team, *loops);
}

// Bytes a second that so many threads read of this memory, each its part.
SCALEDOT_EXPORT double scaledot_bench_read_bytes(int threads, const void* data, std::size_t bytes) {
  const measure::Loops* loops = measure::loops_in_use();
  if (loops == nullptr) return 0;
  measure::Team team(threads);
  const std::span<const std::byte> piece(static_cast<const std::byte*>(data), bytes);
  return measure::read_bytes(team, *loops, {&piece, 1});
}

SCALEDOT_EXPORT const char* scaledot_bench_processor() {
  static const Machine found = machine();
  return found.processor.data();
}

}  // extern "C"
