// One shape measured: checked first, then timed against its ceilings.
#pragma once

#include <string>
#include <vector>

#include "measure/contest.hpp"
#include "measure/result.hpp"
#include "measure/tensors.hpp"

namespace scaledot::measure {

struct Measured {
  Status status;                // of the first call; there are no results if it is not ok
  std::string fault;            // else why there are none; empty if there are
  std::vector<Result> results;  // of attend(), then of each rival
};

// Measures attend() on the tensors, and whatever else shall be compared with it, in turns.
Measured measure(Tensors& tensors, const std::vector<Contestant>& rivals = {},
                 const Effort& effort = {}, const Progress& progress = nullptr);

}  // namespace scaledot::measure
