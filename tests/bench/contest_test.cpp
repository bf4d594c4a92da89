// The order in which a contest measures, and what it makes of it.
#include "measure/contest.hpp"

#include <gtest/gtest.h>

#include <string>

#include "measure/check.hpp"

namespace scaledot::measure {
namespace {

TEST(Contest, EachRepetitionStandsBetweenTwoCeilings) {
  std::string log;
  double height = 0;
  const auto ceiling = [&] {
    log += '|';
    height += 2;
    return Ceiling{height, 10 * height};
  };
  // 0 seconds of repetitions are always reached, so that every repetition is one call.
  const Effort effort{.repetitions = 12, .seconds = 0, .repetition = 0};
  const auto samples =
      interleave({{"a", [&log] { log += 'a'; }}, {"b", [&log] { log += 'b'; }}}, ceiling, effort);

  std::string expected = "aabb";  // a call that nobody times and one that says how long it takes
  for (int round = 0; round < 12; ++round) expected += "|a|b|";
  EXPECT_EQ(log, expected);

  ASSERT_EQ(samples.size(), 2u);
  for (std::size_t contestant : {0u, 1u}) {
    ASSERT_EQ(samples[contestant].size(), 12u);
    for (std::size_t round = 0; round < 12; ++round) {
      const double before =
          2 + 6 * static_cast<double>(round) + 2 * static_cast<double>(contestant);
      EXPECT_EQ(samples[contestant][round].ceiling.flops, before + 1);
      EXPECT_EQ(samples[contestant][round].ceiling.bytes, 10 * (before + 1));
    }
  }
}

TEST(Contest, ShortCallsFillARepetitionAndThereIsAMost) {
  constexpr int most = 1000000;  // in a repetition; this one asks for more of any call
  int calls = 0;
  interleave({{"short", [&calls] { ++calls; }}}, [] { return Ceiling{}; },
             {.repetitions = 2, .seconds = 0, .repetition = 1e12});
  // Two calls and a full repetition say how many it takes; one goes untimed before each.
  EXPECT_EQ(calls, 2 + most + 2 * (1 + most));
}

TEST(Contest, ReportsProgressFromNothingToAll) {
  std::vector<double> parts;
  interleave(
      {{"a", [] {}}}, [] { return Ceiling{}; }, {.repetitions = 4, .seconds = 0, .repetition = 0},
      [&parts](double part) { parts.push_back(part); });
  EXPECT_EQ(parts, (std::vector<double>{0, 0.25, 0.5, 0.75, 1}));
}

TEST(Team, RunsEachMemberOnceAndWaitsForAll) {
  Team team(3);
  for (int round = 0; round < 100; ++round) {
    std::vector<int> calls(3, 0);
    team.run([&calls](int member) { ++calls[static_cast<std::size_t>(member)]; });
    EXPECT_EQ(calls, (std::vector<int>{1, 1, 1}));
  }
}

TEST(Check, AcceptsAttendAndRefusesAWrongOutput) {
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
    Shape shape;
    shape.heads = 4;
    shape.key_heads = 2;
    shape.queries = 33;
    shape.keys = 70;
    shape.causal = Causal::bottom_right;
    shape.window = {40, unlimited};
    shape.dtype = dtype;
    Tensors tensors(shape);
    EXPECT_FALSE(error(tensors) <= 1) << "an output that nobody wrote";
    ASSERT_TRUE(tensors.attend().ok());
    EXPECT_LE(error(tensors), 1) << name_of(dtype);

    shape.window.left = 39;  // one key fewer
    Tensors narrower(shape);
    ASSERT_TRUE(narrower.attend().ok());
    std::copy_n(narrower.output_bytes().begin(), narrower.output_bytes().size(),
                tensors.output_bytes().begin());
    EXPECT_GT(error(tensors), 1) << name_of(dtype) << ", a key too few";
  }
}

TEST(Check, RefusesAnElementOneUnitInTenThousandOff) {
  Shape shape;
  shape.queries = 1;
  shape.keys = 3;
  Tensors tensors(shape);
  ASSERT_TRUE(tensors.attend().ok());
  ASSERT_LE(error(tensors), 1);
  static_cast<float*>(tensors.output().data)[0] += 1e-4f;
  EXPECT_GT(error(tensors), 1);
}

}  // namespace
}  // namespace scaledot::measure
