// What is said of a contestant's samples.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "measure/contest.hpp"

namespace scaledot::measure {

struct Result {
  double microseconds = 0;  // of one call, median
  double best_microseconds = 0;
  double spread = 0;            // between the quartiles of the time, in parts of the median
  double gflops = 0;            // by the median time
  double peak_gflops = 0;       // median of the ceilings
  double fraction_of_peak = 0;  // median of the ratios, each of a repetition to its own ceiling
  double bandwidth_gbytes = 0;  // by the median time
  std::optional<double> fraction_of_bandwidth;  // like fraction_of_peak, if bytes were a ceiling
  int repetitions = 0;
};

// `flops` and `bytes` are those of one call. At least one sample.
Result result_of(const std::vector<Sample>& samples, double flops, double bytes);

// The value below which `part` of the values lie, interpolated between the two nearest. At least
// one value.
double quantile(std::vector<double> values, double part);
inline double median(std::vector<double> values) { return quantile(std::move(values), 0.5); }

}  // namespace scaledot::measure
