// How a problem is cut into tasks and how much scratch memory they need; from shapes and the number
// of threads alone. No bit of the result depends on it.
#pragma once

#include <cstddef>

#include "attention.hpp"
#include "problem.hpp"

namespace scaledot {

struct Plan {
  Index heads = 0;     // key heads of all batch entries
  Index rows = 0;      // queries of a group's query heads, which share a key head
  Index tiles = 0;     // a head: each table.rows of its rows
  Index splits = 0;    // a tile, if they are tasks of their own; else 0
  Index wave = 0;      // heads whose panels are held at once; 0 if tiles pack for themselves
  Index together = 1;  // tiles that one task walks past the same split of keys; each has a slot
  int threads = 1;

  // Floats, each part a multiple of 16.
  Index scratch = 0;                                          // a thread
  Index slot = 0;                                             // a split
  Index key_panel = 0, value_panel = 0, facts = 0, seen = 0;  // a head of the wave
  Index order = 0;                                            // batch entries, longest first
  std::size_t bytes = 0;                                      // of it all, aligned by hand included

  Index panels() const { return key_panel + value_panel + facts + seen; }
};

// False if the memory could not be addressed.
bool plan(const Problem& problem, const kernels::KernelTable& table, const Paths& paths,
          int threads, Plan& plan) noexcept;

}  // namespace scaledot
