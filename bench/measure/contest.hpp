// The discipline of every measurement here: contestants take turns, each repetition stands between
// two measurements of what the machine can do, and only the ratio to these is compared. So a
// neighbour that takes a part of the processor changes both and hardly the ratio.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "measure/ceiling.hpp"

namespace scaledot::measure {

struct Contestant {
  std::string name;
  std::function<void()> call;
  double part = 1;  // of the shape's work, which a call does
};

// One repetition: the seconds of a call, and the mean of the ceilings before and after it.
struct Sample {
  double seconds = 0;
  Ceiling ceiling;
};

struct Effort {
  int repetitions = 10;       // at least
  double seconds = 0.5;       // of a contestant's repetitions together, at least
  double repetition = 10e-3;  // seconds; as many calls as it takes, at least
};

// Called before each round of repetitions with the part that is done, 0 to 1.
using Progress = std::function<void(double)>;

// The samples of each contestant. The cache is warm: a call that nobody times goes before each
// repetition (where calls are short enough for that to matter).
std::vector<std::vector<Sample>> interleave(const std::vector<Contestant>& contestants,
                                            const std::function<Ceiling()>& ceiling,
                                            const Effort& effort = {},
                                            const Progress& progress = nullptr);

}  // namespace scaledot::measure
