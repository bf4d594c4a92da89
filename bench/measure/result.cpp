#include "measure/result.hpp"

#include <algorithm>
#include <cmath>

namespace scaledot::measure {

namespace {

double ratio(double a, double b) { return b > 0 ? a / b : 0; }

}  // namespace

double quantile(std::vector<double> values, double part) {
  std::sort(values.begin(), values.end());
  const double place = part * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (values[above] - values[below]) * (place - std::floor(place));
}

Result result_of(const std::vector<Sample>& samples, double flops, double bytes) {
  constexpr double micro = 1e6, giga = 1e9;
  std::vector<double> seconds, peaks, of_peak, of_bandwidth;
  for (const Sample& sample : samples) {
    seconds.push_back(sample.seconds);
    peaks.push_back(sample.ceiling.flops);
    of_peak.push_back(ratio(flops, sample.seconds * sample.ceiling.flops));
    of_bandwidth.push_back(ratio(bytes, sample.seconds * sample.ceiling.bytes));
  }

  Result result;
  const double typical = median(seconds);
  result.microseconds = typical * micro;
  result.best_microseconds = *std::min_element(seconds.begin(), seconds.end()) * micro;
  result.spread = ratio(quantile(seconds, 0.75) - quantile(seconds, 0.25), typical);
  result.gflops = ratio(flops, typical) / giga;
  result.peak_gflops = median(peaks) / giga;
  result.fraction_of_peak = median(of_peak);
  result.bandwidth_gbytes = ratio(bytes, typical) / giga;
  if (samples.front().ceiling.bytes > 0) result.fraction_of_bandwidth = median(of_bandwidth);
  result.repetitions = static_cast<int>(samples.size());
  return result;
}

}  // namespace scaledot::measure
