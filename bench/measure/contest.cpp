#include "measure/contest.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace scaledot::measure {

namespace {

double seconds_of(const std::function<void()>& call, int calls) {
  const auto begin = std::chrono::steady_clock::now();
  for (int n = 0; n < calls; ++n) call();
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
  return elapsed.count() / calls;
}

// Calls that fill a repetition. The first call of all is not timed: it finds memory never touched.
// A single short call may be held up, so the number it leads to is tried and corrected.
int calls_of(const Contestant& contestant, const Effort& effort) {
  const auto calls_that_fill = [&effort](double once) {
    constexpr double most = 1e6;
    return static_cast<int>(std::clamp(std::ceil(effort.repetition / once), 1.0, most));
  };
  contestant.call();
  const int calls = calls_that_fill(seconds_of(contestant.call, 1));
  return calls == 1 ? 1 : calls_that_fill(seconds_of(contestant.call, calls));
}

Ceiling mean(const Ceiling& a, const Ceiling& b) {
  return {(a.flops + b.flops) / 2, (a.bytes + b.bytes) / 2};
}

}  // namespace

std::vector<std::vector<Sample>> interleave(const std::vector<Contestant>& contestants,
                                            const std::function<Ceiling()>& ceiling,
                                            const Effort& effort, const Progress& progress) {
  std::vector<int> calls;
  for (const Contestant& contestant : contestants) calls.push_back(calls_of(contestant, effort));

  std::vector<std::vector<Sample>> samples(contestants.size());
  std::vector<double> spent(contestants.size(), 0.0);
  for (int round = 0;; ++round) {
    const double shortest = spent.empty() ? 0 : *std::min_element(spent.begin(), spent.end());
    const double part = std::min(double(round) / effort.repetitions,
                                 effort.seconds > 0 ? shortest / effort.seconds : 1.0);
    if (progress) progress(std::min(part, 1.0));
    if (contestants.empty() || part >= 1) return samples;

    Ceiling before = ceiling();
    for (std::size_t c = 0; c < contestants.size(); ++c) {
      if (calls[c] > 1) contestants[c].call();
      const double seconds = seconds_of(contestants[c].call, calls[c]);
      const Ceiling after = ceiling();
      samples[c].push_back({seconds, mean(before, after)});
      spent[c] += seconds * calls[c];
      before = after;
    }
  }
}

}  // namespace scaledot::measure
