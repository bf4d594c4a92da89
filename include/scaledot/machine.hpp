// What the library found on this machine, and which instruction set it uses and why.
#pragma once

#include <array>
#include <cstddef>

#include "scaledot/export.h"

namespace scaledot {

// One set of kernels that scaledot knows.
struct InstructionSet {
  const char* name = "";  // "amx", "avx512", "avx2", "neon" or "scalar"; as SCALEDOT_ISA takes it
  bool in_use = false;    // attend() runs on this one
  const char* why_not = "";  // why it is not in use; empty if it is
  bool only_bf16 = false;    // runs bf16 arithmetic alone; f32 runs on the next best
};

struct Machine {
  std::array<char, 128> processor{};  // as the processor names itself, ends with 0
  int cores = 0;                      // that this process may run on
  int threads = 0;                    // of a call that asks for none; 0: SCALEDOT_THREADS is wrong
  std::size_t l1_bytes = 0;           // data cache of one core; 0 if unknown
  std::size_t l2_bytes = 0;
  std::size_t l3_bytes = 0;
  bool amx_bf16 = false;     // the processor has AMX tiles for bf16
  bool amx_granted = false;  // the operating system saves them and lets this process use them
  std::array<InstructionSet, 5> instruction_sets{};  // best first
};

SCALEDOT_EXPORT Machine machine() noexcept;

// The library's version, "major.minor.patch".
SCALEDOT_EXPORT const char* version() noexcept;

}  // namespace scaledot
