// What the machine can do at best at this moment, on a given number of threads.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "measure/loops.hpp"
#include "measure/team.hpp"

namespace scaledot::measure {

// Rates a second; 0 where not measured.
struct Ceiling {
  double flops = 0;
  double bytes = 0;
};

// Every thread multiplies and adds in registers for some milliseconds. The result is the sum of the
// threads' rates, so a thread that is held up for a while costs its own part and no more.
double peak_flops(Team& team, const Loops& loops);

// Every thread reads its part of each piece, as often as some milliseconds allow and once at least.
double read_bytes(Team& team, const Loops& loops,
                  std::span<const std::span<const std::byte>> pieces);

// Sleeps until the process does nothing: thread pools spin for a while after a call, and would take
// from the measurement that follows.
void settle();

}  // namespace scaledot::measure
