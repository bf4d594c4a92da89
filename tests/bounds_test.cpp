// The error bound of each arithmetic, docs/numerics.md, against inputs made to reach it: huge
// spread, one dominant logit, rows of 65,536 keys, sums that cancel, roundings that all go one way.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>

#include <gtest/gtest.h>

#include "error_bound.hpp"
#include "inputs.hpp"
#include "random.hpp"
#include "tables.hpp"

namespace scaledot::tests {
namespace {

// Element (i, d) of a query, key or value; there is one entry and one head.
using Element = std::function<float(Index, Index)>;

struct Shape {
  Index queries, keys, head_dim, value_dim;
};

// The largest error, the largest bound, and the largest ratio of an element's error to its bound.
struct Found {
  double error = 0, bound = 0, ratio = 0;

  void take(double got, double expected, double allowed) {
    const double off = std::isnan(got) ? INFINITY : std::fabs(got - expected);
    error = std::max(error, off);
    bound = std::max(bound, allowed);
    ratio = std::max(ratio, off / allowed);
  }
};

struct Adversary {
  Shape shape;
  Element query, key, value;
  Options options;

  Found found(Arithmetic arithmetic) const {
    const auto tensor = [&](Index rows, Index dims, const Element& element) {
      const auto at = [&](Index, Index, Index i, Index d) { return element(i, d); };
      return held(each({1, 1, rows, dims}, at),
                  arithmetic == Arithmetic::bf16 ? DType::bf16 : DType::f32);
    };
    const Held q = tensor(shape.queries, shape.head_dim, query);
    const Held k = tensor(shape.keys, shape.head_dim, key);
    const Held v = tensor(shape.keys, shape.value_dim, value);
    Arguments arguments{q.tensor, k.tensor, v.tensor, options};
    arguments.options.arithmetic = arithmetic;
    const Definition definition(arguments);
    Found all;
    for (const kernels::KernelTable* table : runnable_tables()) {
      const Outcome made = outcome(arguments, {table, {}, 1, DType::f32, Layout::contiguous, true});
      take_rows(definition, arithmetic, made, all);
    }
    return all;
  }

  void take_rows(const Definition& definition, Arithmetic arithmetic, const Outcome& made,
                 Found& all) const {
    const std::vector<float> output = read(made.output.tensor), lse = read(made.lse.tensor);
    const std::vector<float> weights = read(made.weights.tensor);
    Found of_others;
    for (Index i = 0; i < shape.queries; ++i) {
      const BoundedRow row = bounded_row(definition, arithmetic, 0, 0, i);
      const auto n = static_cast<std::size_t>(i);
      for (std::size_t d = 0; d < row.output_bound.size(); ++d)
        all.take(output[n * row.output_bound.size() + d], row.row.output[d],
                 row.output_bound[d] + 0x1p-126);
      of_others.take(lse[n], row.row.lse, row.lse_bound);
      for (std::size_t j = 0; j < row.weights_bound.size(); ++j)
        of_others.take(weights[n * row.weights_bound.size() + j], row.row.weights[j],
                       row.weights_bound[j] + 0x1p-126);
    }
    EXPECT_LE(of_others.ratio, 1) << "lse or weights";
  }

  void expect_within_bounds() const {
    for (const Arithmetic arithmetic : {Arithmetic::f32, Arithmetic::bf16}) {
      const Found result = found(arithmetic);
      EXPECT_LE(result.ratio, 1) << (arithmetic == Arithmetic::f32 ? "f32" : "bf16");
      std::printf("    %s: error %.2g, bound %.2g, error / bound at most %.2f\n",
                  arithmetic == Arithmetic::f32 ? "f32 " : "bf16", result.error, result.bound,
                  result.ratio);
    }
  }
};

Random& shared_random() {
  static Random random{123};
  return random;
}

Element normal(float size = 1) {
  return [size](Index, Index) { return size * shared_random().normal(); };
}

Element always(float number) {
  return [number](Index, Index) { return number; };
}

}  // namespace

// The bound says something: for numbers of size 1 it is small, and 4096 dims do not spoil it.
TEST(Bounds, are_small_for_usual_numbers) {
  const Adversary usual{{16, 512, 64, 16}, normal(), normal(), normal(), {}};
  EXPECT_LT(usual.found(Arithmetic::f32).bound, 2e-4);
  EXPECT_LT(usual.found(Arithmetic::bf16).bound, 2e-2);
  usual.expect_within_bounds();
  const Adversary wide{{4, 100, 4096, 4}, normal(), normal(), normal(), {}};
  wide.expect_within_bounds();
}

TEST(Bounds, hold_for_logits_of_huge_spread) {
  for (const float size : {3.0f, 10.0f, 30.0f})
    Adversary{{16, 300, 64, 8}, normal(size), normal(size), normal(), {}}.expect_within_bounds();
}

TEST(Bounds, hold_for_one_dominant_logit) {
  for (const float top : {5.0f, 12.0f, 40.0f}) {
    const Element key = [top](Index j, Index d) {
      return j == 77 ? top / 4 : d == 0 ? 0 : shared_random().normal() / 8;
    };
    const Element value = [](Index j, Index) { return j == 77 ? 1.0f : -100.0f; };
    Adversary{{8, 400, 16, 4}, always(1), key, value, {}}.expect_within_bounds();
  }
}

TEST(Bounds, hold_for_rows_of_65536_keys) {
  const Index keys = effort(65536);
  // Equal weights of equal values, whose sum rounds the same way at each step.
  Adversary{{2, keys, 4, 2}, normal(), always(0), always(1.0f / 3), {}}.expect_within_bounds();
  Adversary{{2, keys, 4, 2}, normal(), normal(), always(0x1.fffffep0f), {}}.expect_within_bounds();
  Adversary{{2, keys, 4, 2}, normal(2), normal(2), normal(), {}}.expect_within_bounds();
}

TEST(Bounds, hold_for_sums_that_cancel) {
  // Dot products of large terms that nearly cancel, and values that do.
  const Element key = [](Index, Index d) {
    return (d % 2 == 0 ? 40.0f : -40.0f) + shared_random().normal() / 16;
  };
  const Element value = [](Index j, Index) {
    return (j % 2 == 0 ? 1000.0f : -1000.0f) + shared_random().normal();
  };
  Adversary{{8, 256, 64, 4}, always(1), key, value, {}}.expect_within_bounds();
  Adversary{{8, 256, 63, 4}, always(1.1f), key, normal(), {}}.expect_within_bounds();
  Adversary{{8, 1030, 8, 4}, normal(), always(0), value, {}}.expect_within_bounds();
}

// Each step adds a little more than half a unit in the last place of the sum, so that all of them
// round the same way. Here the bound is nearly reached: it could not be much smaller.
TEST(Bounds, are_nearly_reached_by_roundings_that_all_go_one_way) {
  constexpr float step = 0.52f * 0x1p-19f / 0x1.715476p0f;  // 16 * log2(e) has units of 2^-19
  const Element key = [](Index j, Index d) { return d == 0 ? 16.0f : j % 2 == 0 ? step : -step; };
  const Element value = [](Index j, Index) { return j % 2 == 0 ? 1.0f : -1.0f; };
  Options options;
  options.scale = 1.0f;
  const Adversary dots{{4, 64, 2048, 4}, always(1), key, value, options};
  dots.expect_within_bounds();
  EXPECT_GT(dots.found(Arithmetic::f32).ratio, 0.3);

  const Element sum = [](Index j, Index) { return j % 1024 == 0 ? 1024.0f : 0.52f * 0x1p-13f; };
  const Adversary sums{{2, effort(65536), 4, 2}, normal(), always(0), sum, {}};
  sums.expect_within_bounds();
  EXPECT_GT(sums.found(Arithmetic::f32).ratio, 0.2);
}

TEST(Bounds, hold_with_softcap_and_bias) {
  const Held bias =
      held(each({1, 1, 1, 300},
                [](Index, Index, Index, Index j) { return static_cast<float>(j % 7) * 10 - 3000; }),
           DType::f32);
  Options options;
  options.softcap = 20;
  Adversary{{16, 300, 32, 4}, normal(4), normal(4), normal(), options}.expect_within_bounds();
  options.bias = bias.tensor;
  Adversary{{16, 300, 32, 4}, normal(2), normal(2), normal(), options}.expect_within_bounds();
}

}  // namespace scaledot::tests
