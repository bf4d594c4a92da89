// A call cut in pieces: every bit as in the whole, and a bar that only grows.
#include "call.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "array.hpp"
#include "progress.hpp"

namespace scaledot::cli {

namespace {

// Memory for the tensors of a call.
class Tensors {
 public:
  Tensor numbers(std::vector<Index> extents) {
    Array& array = arrays_.emplace_back(zeros(Element::f32, std::move(extents)));
    std::normal_distribution<float> normal;
    for (std::size_t i = 0; i < array.data.size() / sizeof(float); ++i) {
      const float number = normal(random_);
      std::memcpy(array.data.data() + i * sizeof number, &number, sizeof number);
    }
    return tensor_of(array);
  }

  Tensor mask(std::vector<Index> extents) {
    Array& array = arrays_.emplace_back(zeros(Element::boolean, std::move(extents)));
    for (std::byte& each : array.data.bytes()) each = std::byte{random_() % 4 != 0};
    return tensor_of(array);
  }

  // All elements NaN.
  Tensor nothing(std::vector<Index> extents) {
    Array& array = arrays_.emplace_back(zeros(Element::f32, std::move(extents)));
    for (std::byte& each : array.data.bytes()) each = std::byte{0xff};
    return tensor_of(array);
  }

  // The bytes of the tensors in the order they were made.
  std::string bytes() const {
    std::string all;
    for (const Array& array : arrays_)
      if (array.data.size() > 0)
        all.append(reinterpret_cast<const char*>(array.data.data()), array.data.size());
    return all;
  }

 private:
  std::mt19937 random_{1};
  std::deque<Array> arrays_;
};

// The last `rank` of the extents.
std::vector<Index> last(std::size_t rank, std::vector<Index> extents) {
  return {extents.end() - static_cast<std::ptrdiff_t>(rank), extents.end()};
}

constexpr Index lengths[] = {5, 0, 9};

// The same call for the same arguments, in new memory.
Call make_call(Tensors& tensors, std::size_t rank, std::vector<Index> mask,
               std::vector<Index> bias) {
  const Index batch = rank == 4 ? 3 : 1, key_heads = rank >= 3 ? 5 : 1, group = rank >= 3 ? 2 : 1;
  constexpr Index queries = 4, keys = 9, head_dim = 6, value_dim = 3;
  Call call;
  call.query = tensors.numbers(last(rank, {batch, key_heads * group, queries, head_dim}));
  call.key = tensors.numbers(last(rank, {batch, key_heads, keys, head_dim}));
  call.value = tensors.numbers(last(rank, {batch, key_heads, keys, value_dim}));
  call.outputs.output = tensors.nothing(last(rank, {batch, key_heads * group, queries, value_dim}));
  call.outputs.lse = tensors.nothing(last(rank - 1, {batch, key_heads * group, queries}));
  call.outputs.weights = tensors.nothing(last(rank, {batch, key_heads * group, queries, keys}));
  call.options.mask = tensors.mask(std::move(mask));
  call.options.bias = tensors.numbers(std::move(bias));
  call.options.key_lengths = std::span(lengths).first(static_cast<std::size_t>(batch));
  call.options.threads = 1;
  return call;
}

void expect_same_in_pieces(std::size_t rank, const std::vector<Index>& mask,
                           const std::vector<Index>& bias, double least_operations,
                           std::size_t expected_pieces) {
  SCOPED_TRACE(testing::Message() << "rank " << rank << ", " << least_operations << " operations");
  Tensors whole, cut;
  const Call call = make_call(whole, rank, mask, bias);
  ASSERT_TRUE(attend({call}, [](double) {}).ok());
  const std::vector<Call> pieces = pieces_of(make_call(cut, rank, mask, bias), least_operations);
  EXPECT_EQ(pieces.size(), expected_pieces);
  double done = 0;
  const auto advance = [&](double part) {
    EXPECT_GT(part, done);
    done = part;
  };
  const Status status = attend(pieces, advance);
  ASSERT_TRUE(status.ok()) << describe(status);
  EXPECT_EQ(done, 1);
  EXPECT_EQ(whole.bytes(), cut.bytes());
}

TEST(Pieces, GiveTheBitsOfTheWhole) {
  // 3 batch entries have 5 key heads each, and a key head, with its 2 query heads, 1296 operations.
  for (const auto& [least, pieces] :
       {std::pair(1.0, 15u), std::pair(1500.0, 9u), std::pair(6000.0, 3u), std::pair(7000.0, 2u),
        std::pair(1e9, 1u)}) {
    expect_same_in_pieces(4, {3, 10, 4, 9}, {10, 1, 9}, least, pieces);
    expect_same_in_pieces(4, {3, 1, 1, 9}, {1, 10, 4, 1}, least, pieces);
    expect_same_in_pieces(4, {4, 9}, {}, least, pieces);
  }
  expect_same_in_pieces(3, {10, 4, 9}, {1, 10, 1, 1}, 1.0, 5);
  expect_same_in_pieces(2, {4, 1}, {9}, 1.0, 1);
}

TEST(Pieces, OfAnEmptyCallAreOne) {
  for (std::size_t axis = 0; axis < 4; ++axis) {
    std::vector<Index> shape{2, 4, 3, 5};
    shape[axis] = 0;
    Tensors tensors;
    Call call;
    call.query = call.key = call.value = tensors.numbers(shape);
    call.outputs.output = tensors.nothing(shape);
    const std::vector<Call> pieces = pieces_of(call, 1);
    EXPECT_EQ(pieces.size(), 1u) << "axis " << axis;
    EXPECT_TRUE(attend(pieces, [](double) {}).ok()) << "axis " << axis;
  }
}

TEST(Pieces, StopAtTheFirstThatFails) {
  Tensors tensors;
  Call good = make_call(tensors, 2, {}, {}), bad = good;
  bad.key.extent[1] = 5;
  int advanced = 0;
  EXPECT_EQ(attend({good, bad, good}, [&](double) { ++advanced; }).code, Status::Code::extent);
  EXPECT_EQ(advanced, 1);
}

TEST(Progress, SaysPartAndTime) {
  EXPECT_EQ(progress_text("attend", std::nullopt, 7), "attend  7 s");
  EXPECT_EQ(progress_text("attend", 0.0, 0), "attend [........................]   0 %  0 s");
  EXPECT_EQ(progress_text("attend", 0.5, 61), "attend [############............]  50 %  61 s");
  EXPECT_EQ(progress_text("attend", 1.0, 9), "attend [########################] 100 %  9 s");
}

TEST(Progress, IsDrawnWhenItChanges) {
  std::string shown;
  EXPECT_EQ(redrawn(shown, ""), "");  // nothing to wipe away
  EXPECT_EQ(redrawn(shown, "1 s"), "\r\033[K1 s");
  EXPECT_EQ(redrawn(shown, "1 s"), "");
  EXPECT_EQ(redrawn(shown, "2 s"), "\r\033[K2 s");
  EXPECT_EQ(redrawn(shown, ""), "\r\033[K");
  EXPECT_EQ(redrawn(shown, ""), "");
}

}  // namespace

}  // namespace scaledot::cli
