// The arithmetic of measurements, on made-up samples: no clock decides here.
#include "measure/result.hpp"

#include <gtest/gtest.h>

namespace scaledot::measure {
namespace {

Sample sample(double seconds, double peak, double bytes = 0) {
  return {seconds, Ceiling{peak, bytes}};
}

TEST(Quantile, IsTheMiddleOrBetweenTheTwoMiddleOnes) {
  EXPECT_EQ(median({3}), 3);
  EXPECT_EQ(median({5, 1, 3}), 3);
  EXPECT_EQ(median({4, 1, 3, 2}), 2.5);
  EXPECT_EQ(quantile({0, 10, 20, 30, 40}, 0.25), 10);
  EXPECT_EQ(quantile({0, 10}, 0.75), 7.5);
  EXPECT_EQ(quantile({7, 1}, 0), 1);
  EXPECT_EQ(quantile({7, 1}, 1), 7);
}

TEST(Result, ComparesEachRepetitionWithItsOwnCeiling) {
  // The machine is at half speed in one repetition and at a quarter in another: the ratio is 0.8
  // in all of them, which neither the medians nor the best values of time and peak give.
  const Result result =
      result_of({sample(1, 100), sample(2, 50), sample(4, 25)}, /*flops=*/80, /*bytes=*/0);
  EXPECT_DOUBLE_EQ(result.fraction_of_peak, 0.8);
  EXPECT_DOUBLE_EQ(result.microseconds, 2e6);
  EXPECT_DOUBLE_EQ(result.best_microseconds, 1e6);
  EXPECT_DOUBLE_EQ(result.gflops, 40e-9);
  EXPECT_DOUBLE_EQ(result.peak_gflops, 50e-9);
  EXPECT_EQ(result.repetitions, 3);
}

TEST(Result, TakesTheMedianOfTheRatiosNotTheRatioOfTheMedians) {
  const Result result = result_of({sample(1, 100), sample(1, 400), sample(4, 100)}, 100, 0);
  EXPECT_DOUBLE_EQ(result.fraction_of_peak, 0.25);  // of 1, 0.25, 0.25; the medians would give 1
}

TEST(Result, HasBandwidthOnlyWhereReadingWasMeasured) {
  EXPECT_FALSE(result_of({sample(1, 1)}, 1, 1).fraction_of_bandwidth.has_value());
  const Result result =
      result_of({sample(2, 1, 40e9), sample(1, 1, 80e9), sample(4, 1, 20e9)}, 1, 60e9);
  ASSERT_TRUE(result.fraction_of_bandwidth.has_value());
  EXPECT_DOUBLE_EQ(*result.fraction_of_bandwidth, 0.75);
  EXPECT_DOUBLE_EQ(result.bandwidth_gbytes, 30);
}

TEST(Result, SpreadIsTheDistanceOfTheQuartilesInPartsOfTheMedian) {
  const Result result =
      result_of({sample(8, 1), sample(9, 1), sample(10, 1), sample(12, 1), sample(99, 1)}, 1, 0);
  EXPECT_DOUBLE_EQ(result.spread, 0.3);
}

TEST(Result, OfNoWorkIsZeroAndNotNaN) {
  const Result result = result_of({sample(1, 0), sample(0, 1)}, 0, 0);
  EXPECT_EQ(result.fraction_of_peak, 0);
  EXPECT_EQ(result.gflops, 0);
}

}  // namespace
}  // namespace scaledot::measure
