#include "mistake.hpp"

#include <cmath>
#include <optional>
#include <utility>

#include <gtest/gtest.h>

namespace scaledot::tests {
namespace {

constexpr std::size_t area = 16 << 10;

void expect_fields(const Status& got, const Status& want) {
  EXPECT_EQ(static_cast<int>(got.code), static_cast<int>(want.code)) << describe(got);
  EXPECT_STREQ(got.argument, want.argument);
  EXPECT_STREQ(got.other, want.other);
  EXPECT_EQ(got.axis, want.axis);
  EXPECT_EQ(got.got, want.got);
  EXPECT_EQ(got.expected, want.expected);
  if (std::isnan(want.value))
    EXPECT_TRUE(std::isnan(got.value));
  else
    EXPECT_EQ(got.value, want.value);
}

Status attended(const ValidCall& call) {
  return attend(call.query, call.key, call.value, call.outputs, call.options);
}

Tensor& optional(std::optional<Tensor>& place, const Tensor& tensor) {
  if (!place) place = tensor;
  return *place;
}

}  // namespace

ValidCall::ValidCall() : memory(10 * area), key_lengths{5, 2} {
  for (std::size_t n = 0; n < memory.size(); n += 4) memory[n] = static_cast<std::byte>(n / 4);
  std::byte* at = memory.data() + area;
  const auto next = [&] { return std::exchange(at, at + area); };
  query = contiguous(next(), DType::f32, {2, 4, 3, 8});
  key = contiguous(next(), DType::f32, {2, 2, 5, 8});
  value = contiguous(next(), DType::f32, {2, 2, 5, 6});
  outputs.output = contiguous(next(), DType::f32, {2, 4, 3, 6});
  lse = contiguous(next(), DType::f32, {2, 4, 3});
  weights = contiguous(next(), DType::f32, {2, 4, 3, 5});
  mask = contiguous(next(), DType::boolean, {2, 4, 3, 5});
  bias = contiguous(next(), DType::f32, {2, 4, 3, 5});
}

void expect_attend_mistake(const Mistake& mistake, const Status& want) {
  ValidCall call;
  mistake(call);
  const std::vector<std::byte> before = call.memory;
  expect_fields(attended(call), want);
  EXPECT_EQ(call.memory, before) << "something was written";
}

void expect_mistake(const Mistake& mistake, const Status& want) {
  expect_attend_mistake(mistake, want);
  ValidCall call;
  mistake(call);
  std::size_t bytes = 12345;
  expect_fields(
      workspace_bytes(call.query, call.key, call.value, call.outputs, call.options, bytes), want);
  EXPECT_EQ(bytes, 12345u);
}

void expect_no_mistake(const Mistake& change) {
  ValidCall call;
  change(call);
  std::size_t bytes = 0;
  const Status sized =
      workspace_bytes(call.query, call.key, call.value, call.outputs, call.options, bytes);
  EXPECT_TRUE(sized.ok()) << describe(sized);
  const Status status = attended(call);
  EXPECT_TRUE(status.ok()) << describe(status);
}

const std::vector<Named>& all_tensors() {
  static const std::vector<Named> tensors = {
      {"query", [](ValidCall& a) -> Tensor& { return a.query; }},
      {"key", [](ValidCall& a) -> Tensor& { return a.key; }},
      {"value", [](ValidCall& a) -> Tensor& { return a.value; }},
      {"output", [](ValidCall& a) -> Tensor& { return a.outputs.output; }},
      {"lse", [](ValidCall& a) -> Tensor& { return optional(a.outputs.lse, a.lse); }},
      {"weights", [](ValidCall& a) -> Tensor& { return optional(a.outputs.weights, a.weights); }},
      {"mask", [](ValidCall& a) -> Tensor& { return optional(a.options.mask, a.mask); }},
      {"bias", [](ValidCall& a) -> Tensor& { return optional(a.options.bias, a.bias); }}};
  return tensors;
}

}  // namespace scaledot::tests
