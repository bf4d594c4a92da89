// Bugs of masks: how they broadcast, boolean against additive, and together with causal.
#include <cfenv>
#include <limits>

#include <gtest/gtest.h>

#include "bug_case.hpp"
#include "tables.hpp"

namespace scaledot::tests {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

// The same mask as an additive one: 0 where it is true and -inf elsewhere.
Call with_bias(const Call& masked) {
  Call call = masked;
  call.bias = call.mask;
  call.mask.reset();
  for (float& number : call.bias->at) number = number != 0 ? 0 : -infinity;
  return call;
}

// pytorch#120810: a mask of lower rank than the rest; two batch axes are one of their product.
TEST(BugCases, D035_mask_of_lower_rank) {
  Call call{fill(3, {6, 4, 7, 16}), fill(5, {6, 4, 5, 16}), fill(7, {6, 4, 5, 32}), {}, {}, {}, {}};
  Call part = call;
  part.key = slice(call.key, 2, 5);
  part.value = slice(call.value, 2, 5);
  call.mask = Numbers{{5}, {0, 0, 1, 1, 1}};
  // The order of sums follows the keys' positions, so the shorter call may round otherwise.
  each_way(call, [&](const Way& way, const Results& got) {
    const Results want = made(part, way);
    for (std::size_t n = 0; n < got.output.size(); ++n)
      ASSERT_NEAR(got.output[n], want.output[n], tolerance(part, way, want.output[n]));
  });
  for (const Extents& extent : {Extents{1, 5}, {1, 1, 5}, {1, 1, 1, 5}}) {
    Call same = call;
    same.mask->extent = extent;
    for (const Call& other : {same, with_bias(same)}) {
      for (const Way& way : ways(call)) {
        if (!way.is_plain()) continue;
        ASSERT_TRUE(same_bits(made(other, way).output, made(call, way).output)) << way.name();
      }
    }
  }
  call.mask = Numbers{{}, {1}};
  Call open = call;
  open.mask.reset();
  expect_same_bits(call, open);
  call.mask = Numbers{{}, {0}};
  expect_exactly(call, std::vector<double>(6 * 4 * 7 * 32, 0));
}

// openvino#30758: a mask with one query row was read as if it had one for each query.
TEST(BugCases, D036_mask_with_one_query_row) {
  Call call = mean_call({2, 2, 3, 4}, {2, 2, 6, 4}, positions({2, 2, 6, 1}));
  call.mask = each({2, 2, 1, 6}, [](Index b, Index h, Index, Index j) { return j <= 2 * b + h; });
  const std::vector<double> rows = {0, 0, 0, 0.5, 0.5, 0.5, 1, 1, 1, 1.5, 1.5, 1.5};
  expect_exactly(call, rows);
  expect_exactly(with_bias(call), rows);
}

// Every axis of a mask may have an extent of 1, alone and together, and at every rank.
TEST(BugCases, D036_every_way_to_broadcast) {
  const Index batch = 2, heads = 4, queries = 5, keys = 7;
  const auto seen = [](Index b, Index h, Index i, Index j) {
    return (b * 5 + h * 3 + i * 2 + j * j) % 3 != 0;
  };
  Call call =
      mean_call({batch, heads, queries, 4}, {batch, 2, keys, 4}, positions({batch, 2, keys, 1}));
  for (int axes = 0; axes < 16; ++axes) {
    const auto in = [&](int axis, Index index) { return (axes >> axis & 1) != 0 ? index : 0; };
    const auto extent = [&](int axis, Index full) { return (axes >> axis & 1) != 0 ? full : 1; };
    std::vector<double> rows;
    for (Index n = 0; n < batch * heads * queries; ++n) {
      Index sum = 0, count = 0;
      for (Index j = 0; j < keys; ++j) {
        if (!seen(in(0, n / queries / heads), in(1, n / queries % heads), in(2, n % queries),
                  in(3, j)))
          continue;
        sum += j;
        ++count;
      }
      rows.push_back(count == 0 ? 0 : static_cast<double>(sum) / static_cast<double>(count));
    }
    call.mask =
        each({extent(0, batch), extent(1, heads), extent(2, queries), extent(3, keys)}, seen);
    SCOPED_TRACE("axes " + std::to_string(axes));
    for (;;) {
      expect_exactly(call, rows);
      expect_exactly(with_bias(call), rows);
      Extents& shape = call.mask->extent;
      if (shape.empty() || shape.front() != 1) break;
      shape.erase(shape.begin());
    }
  }
}

// pytorch#177482: [batch, queries, keys] was taken for [heads, queries, keys].
TEST(BugCases, D037_mask_of_rank_3_is_per_head) {
  Call call = mean_call({2, 4, 3, 5}, {2, 4, 3, 5}, positions({2, 4, 3, 1}));
  const Numbers mask = each({1, 2, 3, 3}, [](Index, Index h, Index, Index j) { return j <= h; });
  call.mask = Numbers{{2, 3, 3}, mask.at};
  for (const Way& way : ways(call)) {
    const Results got = made(call, way);
    EXPECT_EQ(got.status.code, Status::Code::extent);
    EXPECT_STREQ(got.status.argument, "mask");
    EXPECT_EQ(got.status.axis, 0);
    EXPECT_EQ(got.status.got, 2);
  }
  call = mean_call({2, 2, 3, 5}, {2, 2, 3, 5}, positions({2, 2, 3, 1}));
  call.mask = Numbers{{2, 3, 3}, mask.at};
  expect_exactly(call, {0, 0, 0, 0.5, 0.5, 0.5, 0, 0, 0, 0.5, 0.5, 0.5});
}

// ik_llama.cpp#2087: keys cut to the window, the mask's rows still those of the whole.
TEST(BugCases, D038_views_with_the_row_stride_of_the_whole) {
  const Numbers key = fill(5, {1, 1, 10, 4}), value = positions({1, 1, 10, 1});
  for (const kernels::KernelTable* table : runnable_tables()) {
    for (const bool boolean : {true, false}) {
      const Stored query(constant(0, {1, 1, 3, 4}), DType::f32);
      Stored keys(key, DType::f32), values(value, DType::f32);
      Stored whole(each({1, 1, 3, 10},
                        [&](Index, Index, Index i, Index j) {
                          const bool seen = j < 6 || j == 6 + i;
                          return boolean ? seen : seen ? 0 : -infinity;
                        }),
                   boolean ? DType::boolean : DType::f32);
      keys.tensor.data = keys.bytes.data() + 6 * 4 * 4;
      values.tensor.data = values.bytes.data() + 6 * 4;
      whole.tensor.data = whole.bytes.data() + 6 * (boolean ? 1 : 4);
      keys.tensor.extent[2] = values.tensor.extent[2] = whole.tensor.extent[3] = 4;
      const Stored output(constant(-1, {1, 1, 3, 1}), DType::f32);
      Options options;
      (boolean ? options.mask : options.bias) = whole.tensor;
      const Status status = attend_on(*table, query.tensor, keys.tensor, values.tensor,
                                      {output.tensor, {}, {}}, options);
      ASSERT_TRUE(status.ok()) << describe(status);
      EXPECT_EQ(read(output.tensor), (std::vector<float>{6, 7, 8})) << table->name;
    }
  }
}

// jax#28974: a mask of keys alone was refused for its length.
TEST(BugCases, D039_mask_of_lengths) {
  Call call = mean_call({4, 4, 32, 4}, {4, 4, 32, 4}, positions({4, 4, 32, 1}));
  const std::vector<Index> lengths = {1, 5, 17, 31};
  call.mask = each({4, 1, 1, 32}, [&](Index b, Index, Index, Index j) {
    return j < lengths[static_cast<std::size_t>(b)];
  });
  std::vector<double> rows;
  for (const double mean : {0, 2, 8, 15}) rows.insert(rows.end(), 4 * 32, mean);
  expect_exactly(call, rows);
  Call shorter = call;
  shorter.mask.reset();
  shorter.key_lengths = lengths;
  expect_same_bits(call, shorter);
}

// openvino#31630: a boolean mask was added as 0 and 1.
TEST(BugCases, D040_boolean_hides_and_numbers_are_added) {
  Call call = mean_call({1, 1, 8, 4}, {1, 1, 8, 4}, positions({1, 1, 8, 1}));
  call.mask = each({1, 1, 8, 8}, [](Index, Index, Index i, Index j) { return (i + j) % 2 == 0; });
  expect_exactly(call, {3, 4, 3, 4, 3, 4, 3, 4});
  call.bias = call.mask;
  call.mask.reset();
  expect_output(call, {3.26894});
}

// Any byte but 0 is true, whatever the stride, in the middle of a vector and at its end.
TEST(BugCases, D040_every_byte_of_a_boolean) {
  Stored mask(constant(0, {512}), DType::boolean);
  for (const Index stride : {1, 2}) {
    for (const Index keys : {250, 256}) {
      for (Index j = 0; j < keys; ++j)
        mask.bytes[static_cast<std::size_t>(j * stride)] = static_cast<std::byte>(j);
      const Call call = mean_call({1, 1, 1, 1}, {1, 1, keys, 1},
                                  each({1, 1, keys, 1}, [](Index, Index, Index j, Index) {
                                    return static_cast<float>(j == 0 ? 1000 : j % 2);
                                  }));
      const Stored query(call.query, DType::f32), key(call.key, DType::f32),
          value(call.value, DType::f32), output(constant(-1, {1, 1, 1, 1}), DType::f32);
      Options options;
      options.mask = Tensor{mask.bytes.data(), DType::boolean, 1, {keys}, {stride}};
      for (const kernels::KernelTable* table : runnable_tables()) {
        const Status status = attend_on(*table, query.tensor, key.tensor, value.tensor,
                                        {output.tensor, {}, {}}, options);
        ASSERT_TRUE(status.ok()) << describe(status);
        // Of the keys from 1 on, as many as keys / 2 have the number 1.
        EXPECT_EQ(read(output.tensor)[0],
                  static_cast<float>(keys / 2) / static_cast<float>(keys - 1))
            << table->name << ", " << keys << " keys, stride " << stride;
      }
    }
  }
}

// onnx#8068: turning a mask into a bias by (1 - m) * -inf makes NaN where it is true.
TEST(BugCases, D041_boolean_mask_with_causal_has_no_nan) {
  Call call = mean_call({1, 1, 2, 4}, {1, 1, 2, 4}, Numbers{{1, 1, 2, 1}, {1, 3}});
  call.mask = Numbers{{2, 2}, {1, 0, 1, 1}};
  call.options.causal = Causal::top_left;
  expect_exactly(call, {1, 2});
}

// jax#34114: a fill of float64 became -inf in float32; nothing may be raised inside.
TEST(BugCases, D042_zeros_with_a_mask_raise_nothing) {
  Call call{constant(0, {1, 6, 5, 11}),
            constant(0, {1, 3, 7, 11}),
            constant(0, {1, 3, 7, 11}),
            {},
            {},
            {},
            {}};
  call.mask = each({1, 1, 1, 7}, [](Index, Index, Index, Index j) { return j < 4; });
  std::feclearexcept(FE_ALL_EXCEPT);
  for (const Way& way : ways(call)) {
    const Results got = made(call, way);
    EXPECT_EQ(got.output, std::vector<float>(6 * 5 * 11, 0)) << way.name();
    EXPECT_EQ(std::fetestexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW), 0) << way.name();
  }
}

// Here a mask and causal given together compose by AND; PyTorch raises an error.
TEST(BugCases, D043_mask_and_causal_compose) {
  Call call = mean_call({1, 1, 4, 4}, {1, 1, 3, 4}, positions({1, 1, 3, 1}));
  call.mask = Numbers{{4, 3}, {1, 1, 1, 0, 1, 1, 1, 0, 1, 1, 1, 0}};
  call.options.causal = Causal::top_left;
  expect_exactly(call, {0, 1, 1, 0.5});
  call.options.causal = Causal::bottom_right;  // the diagonal is j = i - 1
  expect_exactly(call, {0, 0, 0, 0.5});
}

// maxtext#878: causal switched the padding mask off.
TEST(BugCases, D044_padding_mask_with_causal) {
  Call call = mean_call({1, 1, 4, 4}, {1, 1, 4, 4}, positions({1, 1, 4, 1}));
  call.mask = Numbers{{1, 1, 1, 4}, {1, 1, 0, 0}};
  call.options.causal = Causal::top_left;
  expect_exactly(call, {0, 0.5, 0.5, 0.5});
  expect_exactly(with_bias(call), {0, 0.5, 0.5, 0.5});
}

// pytorch#99282: causal was ignored when weights were wanted. each_way() also compares the bits of
// the output with weights to those without.
TEST(BugCases, D045_causal_with_weights_wanted) {
  Call call{fill(3, {4, 2, 3, 4}), fill(5, {4, 2, 3, 4}), fill(7, {4, 2, 3, 4}), {}, {}, {}, {}};
  call.options.causal = Causal::top_left;
  each_way(call, [](const Way& way, const Results& got) {
    const double bound = way.arithmetic == Arithmetic::bf16 ? 0x1p-7 : 1e-6;
    for (std::size_t row = 0; row < got.weights.size() / 3; ++row) {
      double sum = 0;
      for (std::size_t j = 0; j < 3; ++j) {
        const float weight = got.weights[row * 3 + j];
        EXPECT_EQ(weight > 0, j <= row % 3) << "row " << row;
        sum += weight;
      }
      EXPECT_NEAR(sum, 1, bound) << "row " << row;
    }
  });
}

}  // namespace
}  // namespace scaledot::tests
