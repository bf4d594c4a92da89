// How much work a shape is: closed forms against counting pair by pair.
#include "measure/shape.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <set>

namespace scaledot::measure {
namespace {

// The contract's words: causal, and the window around the same diagonal.
bool sees(const Shape& shape, Index i, Index j) {
  const Index center = shape.causal == Causal::bottom_right ? i + shape.keys - shape.queries : i;
  if (shape.causal != Causal::off && j > center) return false;
  if (shape.window.left != unlimited && j < center - shape.window.left) return false;
  return shape.window.right == unlimited || j <= center + shape.window.right;
}

Shape small(Index queries, Index keys, Causal causal, Window window) {
  Shape shape;
  shape.batch = 2;
  shape.heads = 6;
  shape.key_heads = 3;
  shape.queries = queries;
  shape.keys = keys;
  shape.head_dim = 5;
  shape.value_dim = 7;
  shape.causal = causal;
  shape.window = window;
  return shape;
}

template <class Check>
void for_all_small_shapes(const Check& check) {
  for (const Causal causal : {Causal::off, Causal::top_left, Causal::bottom_right})
    for (const Index queries : {0, 1, 4, 9})
      for (const Index keys : {0, 1, 5, 9, 14})
        for (const Index left : {unlimited, Index{0}, Index{2}, Index{100}})
          for (const Index right : {unlimited, Index{0}, Index{3}, Index{100}}) {
            SCOPED_TRACE(testing::Message() << name_of(causal) << ", " << queries << " queries, "
                                            << keys << " keys, window " << left << "," << right);
            check(small(queries, keys, causal, {left, right}));
          }
}

TEST(Shape, CountsThePairsThatAreSeen) {
  for_all_small_shapes([](const Shape& shape) {
    Index count = 0;
    for (Index i = 0; i < shape.queries; ++i)
      for (Index j = 0; j < shape.keys; ++j) count += sees(shape, i, j) ? 1 : 0;
    EXPECT_EQ(pairs(shape), static_cast<double>(2 * 6 * count));
    EXPECT_EQ(flops(shape), static_cast<double>(2 * 6 * count) * 2 * (5 + 7));
  });
}

TEST(Shape, MovesEachSeenRowOnce) {
  for_all_small_shapes([](const Shape& shape) {
    std::set<Index> seen;
    for (Index i = 0; i < shape.queries; ++i)
      for (Index j = 0; j < shape.keys; ++j)
        if (sees(shape, i, j)) seen.insert(j);
    const Index rows = 6 * shape.queries + 3 * static_cast<Index>(seen.size());
    EXPECT_EQ(bytes(shape), static_cast<double>(2 * rows * (5 + 7) * 4));
  });
}

TEST(Shape, SquareHasTheUsualCounts) {
  Shape shape;  // 8 heads, 2048 queries and keys, dims of 64
  EXPECT_EQ(flops(shape), 4.0 * 8 * 2048 * 2048 * 64);
  shape.causal = Causal::top_left;
  EXPECT_EQ(flops(shape), 4.0 * 8 * (2048 * 2049 / 2) * 64);
  shape.window.left = std::numeric_limits<Index>::max();
  EXPECT_EQ(flops(shape), 4.0 * 8 * (2048 * 2049 / 2) * 64);
}

TEST(Shape, AutomaticArithmeticFollowsTheType) {
  Shape shape;
  EXPECT_EQ(resolved_arithmetic(shape), Arithmetic::f32);
  shape.dtype = DType::f16;
  EXPECT_EQ(resolved_arithmetic(shape), Arithmetic::f32);
  shape.dtype = DType::bf16;
  EXPECT_EQ(resolved_arithmetic(shape), Arithmetic::bf16);
  shape.arithmetic = Arithmetic::f32;
  EXPECT_EQ(resolved_arithmetic(shape), Arithmetic::f32);
}

}  // namespace
}  // namespace scaledot::measure
