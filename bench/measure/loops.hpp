// The two loops that say what a core can do at best, written once and compiled for each
// instruction set: multiply-adds without memory, and loads without arithmetic. Scalar code on
// x86-64 calls the C library for a multiply-add, so its peak is how often it can.
#pragma once

#include <cstddef>

#include "scaledot/attention.hpp"

namespace scaledot::measure {

struct Loops {
  const char* isa;  // as scaledot::machine() names it
  Index flops;      // of one step
  void (*multiply_add)(Index steps);
  void (*read)(const std::byte* data, std::size_t bytes);  // but for some at both ends
};

extern const Loops scalar_loops, avx2_loops, avx512_loops, neon_loops;

// Those of the best instruction set in use that has vectors; null if SCALEDOT_ISA names none.
const Loops* loops_in_use();

}  // namespace scaledot::measure
