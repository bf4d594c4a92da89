// The ways in which a call is made, and what they must agree on.
#include "bug_case.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <gtest/gtest.h>

#include "tables.hpp"

namespace scaledot::tests {
namespace {

// An output of the given shape that starts as NaN.
Stored unwritten(const Extents& extent, DType dtype) {
  Stored stored(constant(0, extent), dtype);
  std::fill(stored.bytes.begin(), stored.bytes.end(), std::byte{0xFF});
  return stored;
}

bool exact(const Numbers& numbers, DType dtype) {
  for (const float number : numbers.at)
    if (!std::isnan(number) && rounded(number, dtype) != number) return false;
  return true;
}

}  // namespace

Call mean_call(const Extents& query, const Extents& key, const Numbers& value) {
  return {constant(0, query), constant(0, key), value, {}, {}, {}, {}};
}

std::string Way::name() const {
  const char* types[] = {"f32", "f16", "bf16"};
  return std::string(table->name) + ", " + types[static_cast<int>(dtype)] +
         (arithmetic == Arithmetic::bf16 ? ", bf16 arithmetic" : "") +
         (paths.certified ? "" : ", not certified") +
         (paths.shared_panels ? "" : ", panels of its own") +
         (paths.split_tasks ? "" : ", splits in one task") + ", threads " +
         std::to_string(threads) + (weights ? ", weights" : "");
}

std::vector<Way> ways(const Call& call) {
  std::vector<Way> all;
  for (const kernels::KernelTable* table : runnable_tables()) {
    for (const auto& [dtype, arithmetic] : {std::pair{DType::f32, Arithmetic::f32},
                                            {DType::f16, Arithmetic::automatic},
                                            {DType::bf16, Arithmetic::f32},
                                            {DType::bf16, Arithmetic::bf16}}) {
      if (!exact(call.query, dtype) || !exact(call.key, dtype) || !exact(call.value, dtype))
        continue;
      all.push_back({table, dtype, arithmetic, {}});
      all.push_back({table, dtype, arithmetic, {}, 2});
      all.push_back({table, dtype, arithmetic, {}, 1, true});
      for (const Paths& paths : {Paths{.certified = false},
                                 {.shared_panels = false},
                                 {.split_tasks = false},
                                 {.thin = false}})
        all.push_back({table, dtype, arithmetic, paths});
    }
  }
  return all;
}

Results made(const Call& call, const Way& way) {
  const Stored query(call.query, way.dtype), key(call.key, way.dtype), value(call.value, way.dtype);
  Options options = call.options;
  options.arithmetic = way.arithmetic;
  options.threads = way.threads;
  std::optional<Stored> mask, bias;
  if (call.mask) options.mask = mask.emplace(*call.mask, DType::boolean).tensor;
  if (call.bias)
    options.bias =
        bias.emplace(*call.bias, exact(*call.bias, way.dtype) ? way.dtype : DType::f32).tensor;
  if (call.key_lengths) options.key_lengths = *call.key_lengths;

  Extents extent = call.query.extent;
  extent.back() = call.value.extent.back();
  const Stored output = unwritten(extent, way.dtype);
  extent.back() = call.key.extent[call.key.extent.size() - 2];
  const Stored weights = unwritten(way.weights ? extent : Extents{0}, DType::f32);
  extent.pop_back();
  const Stored lse = unwritten(extent, DType::f32);

  Results results;
  Outputs outputs{output.tensor, lse.tensor, {}};
  if (way.weights) outputs.weights = weights.tensor;
  results.status =
      attend_on(*way.table, query.tensor, key.tensor, value.tensor, outputs, options, way.paths);
  results.output = read(output.tensor);
  results.lse = read(lse.tensor);
  if (way.weights) results.weights = read(weights.tensor);
  return results;
}

void each_way(const Call& call, const std::function<void(const Way&, const Results&)>& check) {
  std::map<std::pair<DType, Arithmetic>, Results> first;
  for (const Way& way : ways(call)) {
    SCOPED_TRACE(way.name());
    const Results results = made(call, way);
    ASSERT_TRUE(results.status.ok()) << describe(results.status);
    const Results& same =
        first.emplace(std::pair{way.dtype, way.arithmetic}, results).first->second;
    ASSERT_TRUE(same_bits(results.output, same.output)) << "the output's bits depend on the way";
    ASSERT_TRUE(same_bits(results.lse, same.lse)) << "the lse's bits depend on the way";
    check(way, results);
    if (::testing::Test::HasFailure()) return;
  }
}

double tolerance(const Call& call, const Way& way, double number) {
  float lowest = INFINITY, highest = -INFINITY;
  for (const float one : call.value.at) {
    lowest = std::min(lowest, one);
    highest = std::max(highest, one);
  }
  const double digits = 5e-6 * std::fabs(number), plain = 1e-6 * std::max(-lowest, highest);
  const double store = way.dtype == DType::f32 ? 0 : way.dtype == DType::f16 ? 0x1p-11 : 0x1p-8;
  const double weights = way.arithmetic == Arithmetic::bf16 ? 0x1.02p-8 * (highest - lowest) : 0;
  return digits + plain + store * std::fabs(number) + weights;
}

void expect_exactly(const Call& call, const std::vector<double>& numbers, std::size_t first) {
  each_way(call, [&](const Way& way, const Results& got) {
    ASSERT_LE(first + numbers.size(), got.output.size());
    for (std::size_t n = 0; n < numbers.size(); ++n)
      ASSERT_EQ(got.output[first + n], rounded(numbers[n], way.dtype)) << "element " << first + n;
  });
}

void expect_output(const Call& call, const std::vector<double>& numbers, std::size_t first) {
  each_way(call, [&](const Way& way, const Results& got) {
    ASSERT_LE(first + numbers.size(), got.output.size());
    for (std::size_t n = 0; n < numbers.size(); ++n)
      ASSERT_NEAR(got.output[first + n], numbers[n], tolerance(call, way, numbers[n]))
          << "element " << first + n;
  });
}

void expect_lse(const Call& call, const std::vector<double>& numbers) {
  each_way(call, [&](const Way& way, const Results& got) {
    ASSERT_EQ(got.lse.size(), numbers.size());
    const double weights = way.arithmetic == Arithmetic::bf16 ? 0x1.02p-8 : 0;
    for (std::size_t n = 0; n < numbers.size(); ++n) {
      if (std::isinf(numbers[n]))
        ASSERT_EQ(got.lse[n], numbers[n]) << "row " << n;
      else
        ASSERT_NEAR(got.lse[n], numbers[n], 5e-6 * std::max(1.0, std::fabs(numbers[n])) + weights)
            << "row " << n;
    }
  });
}

void expect_same_bits(const Call& call, const Call& other) {
  for (const Way& way : ways(call)) {
    SCOPED_TRACE(way.name());
    const Results a = made(call, way), b = made(other, way);
    ASSERT_TRUE(a.status.ok()) << describe(a.status);
    ASSERT_TRUE(b.status.ok()) << describe(b.status);
    ASSERT_TRUE(same_bits(a.output, b.output)) << "the outputs differ";
    ASSERT_TRUE(same_bits(a.lse, b.lse)) << "the lses differ";
  }
}

}  // namespace scaledot::tests
