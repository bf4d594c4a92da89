// Every mistake that a caller can make in a tensor, and the fields of its Status.
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "mistake.hpp"
#include "view.hpp"

namespace scaledot::tests {
namespace {

using Code = Status::Code;
constexpr Index most = std::numeric_limits<Index>::max();

TEST(Problem, the_call_without_a_mistake) {
  expect_no_mistake([](ValidCall&) {});
  expect_no_mistake([](ValidCall& a) {
    for (const Named& tensor : all_tensors()) tensor.of(a);
    a.options.key_lengths = a.key_lengths;
  });
}

TEST(Problem, rank) {
  for (const auto& [rank, nearest] : {std::pair{1, 2}, {0, 2}, {-1, 2}, {5, 4}, {1000, 4}})
    expect_mistake([&, rank = rank](ValidCall& a) { a.query.rank = rank; },
                   {Code::rank, "query", "", -1, rank, nearest});
  for (const Named& tensor : all_tensors()) {
    const std::string name = tensor.name;
    if (name == "query" || name == "mask" || name == "bias") continue;
    const int needed = name == "lse" ? 3 : 4;
    for (const int rank : {-1, 0, needed - 1, needed + 1})
      expect_mistake([&](ValidCall& a) { tensor.of(a).rank = rank; },
                     {Code::rank, tensor.name, "query", -1, rank, needed});
  }
  for (const char* name : {"mask", "bias"})
    for (const auto& [rank, nearest] : {std::pair{-1, 0}, {5, 4}})
      expect_mistake(
          [&, rank = rank](ValidCall& a) {
            for (const Named& tensor : all_tensors())
              if (std::string(name) == tensor.name) tensor.of(a).rank = rank;
          },
          {Code::rank, name, "", -1, rank, nearest});
}

TEST(Problem, rank_of_all_tensors_follows_the_query) {
  // Rank 3, with a mask of rank 4 whose first axis is 1.
  expect_no_mistake([](ValidCall& a) {
    a.query = contiguous(a.query.data, DType::f32, {4, 3, 8});
    a.key = contiguous(a.key.data, DType::f32, {2, 5, 8});
    a.value = contiguous(a.value.data, DType::f32, {2, 5, 6});
    a.outputs.output = contiguous(a.outputs.output.data, DType::f32, {4, 3, 6});
    a.outputs.lse = contiguous(a.lse.data, DType::f32, {4, 3});
    a.options.mask = contiguous(a.mask.data, DType::boolean, {1, 4, 3, 5});
  });
  expect_mistake(
      [](ValidCall& a) {
        a.query = contiguous(a.query.data, DType::f32, {3, 8});
        a.key = contiguous(a.key.data, DType::f32, {5, 8});
        a.value = contiguous(a.value.data, DType::f32, {5, 6});
        a.outputs.output = contiguous(a.outputs.output.data, DType::f32, {3, 6});
        a.outputs.lse = contiguous(a.lse.data, DType::f32, {3, 1});
      },
      {Code::rank, "lse", "query", -1, 2, 1});
}

TEST(Problem, negative_extents) {
  for (const Named& tensor : all_tensors()) {
    for (int axis = 0; axis < (std::string(tensor.name) == "lse" ? 3 : 4); ++axis)
      for (const Index extent : {Index{-1}, std::numeric_limits<Index>::min()})
        expect_mistake(
            [&](ValidCall& a) { tensor.of(a).extent[static_cast<std::size_t>(axis)] = extent; },
            {Code::extent, tensor.name, "", axis, extent, 0});
  }
}

// Changes one extent and lays the tensor out anew.
void resize(Tensor& tensor, std::size_t axis, Index extent) {
  tensor.extent[axis] = extent;
  Index stride = 1;
  for (auto a = static_cast<std::size_t>(tensor.rank); a-- > 0; stride *= tensor.extent[a])
    tensor.stride[a] = stride;
}

// One axis of one tensor is one longer, and one shorter, than the tensor it must agree with.
void expect_extent(const char* name, std::size_t axis, const char* other, Index needed) {
  for (const Named& tensor : all_tensors()) {
    if (std::string(name) != tensor.name) continue;
    for (const Index extent : {needed + 1, needed - 1}) {
      if (extent == 1 && (std::string(name) == "mask" || std::string(name) == "bias")) continue;
      SCOPED_TRACE(std::string(name) + " axis " + std::to_string(axis));
      expect_mistake([&](ValidCall& a) { resize(tensor.of(a), axis, extent); },
                     {Code::extent, name, other, static_cast<Index>(axis), extent, needed});
    }
  }
}

TEST(Problem, extents) {
  expect_extent("key", 0, "query", 2);
  expect_extent("key", 3, "query", 8);
  expect_extent("value", 0, "query", 2);
  expect_extent("value", 1, "key", 2);
  expect_extent("value", 2, "key", 5);
  for (const char* name : {"output", "lse", "weights", "mask", "bias"}) {
    expect_extent(name, 0, "query", 2);
    expect_extent(name, 1, "query", 4);
    expect_extent(name, 2, "query", 3);
  }
  expect_extent("output", 3, "value", 6);
  for (const char* name : {"weights", "mask", "bias"}) expect_extent(name, 3, "key", 5);
}

TEST(Problem, an_axis_of_a_mask_is_counted_in_its_own_order) {
  expect_mistake(
      [](ValidCall& a) { a.options.mask = contiguous(a.mask.data, DType::boolean, {4}); },
      {Code::extent, "mask", "key", 0, 4, 5});
  expect_mistake(
      [](ValidCall& a) {
        a.options.bias = contiguous(a.bias.data, DType::f32, {2, 3, 5});
      },
      {Code::extent, "bias", "query", 0, 2, 4});
  expect_mistake(
      [](ValidCall& a) { a.options.mask = contiguous(a.mask.data, DType::boolean, {0}); },
      {Code::extent, "mask", "key", 0, 0, 5});
}

TEST(Problem, heads) {
  // The nearest multiple is named.
  for (const auto& [heads, key_heads, nearest] :
       {std::array<Index, 3>{4, 3, 3}, {4, 5, 5}, {7, 3, 6}, {8, 3, 9}, {1, 2, 2}})
    expect_mistake(
        [&, heads = heads, key_heads = key_heads](ValidCall& a) {
          for (Tensor* tensor : {&a.query, &a.outputs.output}) resize(*tensor, 1, heads);
          for (Tensor* tensor : {&a.key, &a.value}) resize(*tensor, 1, key_heads);
        },
        {Code::extent, "query", "key", 1, heads, nearest});
  expect_mistake([](ValidCall& a) { a.key.extent[1] = a.value.extent[1] = 0; },
                 {Code::extent, "query", "key", 1, 4, 0});
  expect_no_mistake([](ValidCall& a) { a.query.extent[1] = a.outputs.output.extent[1] = 0; });
  expect_no_mistake([](ValidCall& a) {
    a.query.extent[1] = a.outputs.output.extent[1] = a.key.extent[1] = a.value.extent[1] = 0;
  });
}

TEST(Problem, data) {
  for (const Named& tensor : all_tensors()) {
    expect_mistake([&](ValidCall& a) { tensor.of(a).data = nullptr; },
                   {Code::null_data, tensor.name, "", -1, 0, 0});
    const Index size = std::string(tensor.name) == "mask" ? 1 : 4;
    for (Index odd = 1; odd < size; ++odd)
      expect_mistake(
          [&](ValidCall& a) {
            Tensor& one = tensor.of(a);
            one.data = static_cast<std::byte*>(one.data) + odd;
          },
          {Code::alignment, tensor.name, "", -1, odd, 0});
  }
  expect_mistake(
      [](ValidCall& a) {
        a.key.dtype = DType::f16;
        a.key.data = static_cast<std::byte*>(a.key.data) + 3;
      },
      {Code::alignment, "key", "", -1, 1, 0});
  // Without elements, data is not looked at.
  for (const std::uintptr_t address : {0u, 1u})
    expect_no_mistake([&](ValidCall& a) {
      for (const Named& tensor : all_tensors()) {
        Tensor& one = tensor.of(a);
        one.data = reinterpret_cast<void*>(address);
        if (std::string(tensor.name) != "mask" && std::string(tensor.name) != "bias")
          one.extent[0] = 0;
      }
      a.options.mask->extent[0] = a.options.bias->extent[0] = 0;
    });
}

TEST(Problem, types) {
  for (const Named& tensor : all_tensors()) {
    const std::string name = tensor.name;
    for (const int type : {0, 1, 2, 3, 4, 200}) {
      const auto dtype = static_cast<DType>(type);
      const bool taken = name == "mask"  ? dtype == DType::boolean
                         : name == "lse" ? dtype == DType::f32
                                         : type < 3;
      const Mistake change = [&](ValidCall& a) { tensor.of(a).dtype = dtype; };
      const Index expected = name == "mask" ? 3 : 0;
      if (taken)
        expect_no_mistake(change);
      else
        expect_mistake(change, {Code::dtype, tensor.name, "", -1, type, expected});
    }
  }
}

TEST(Problem, overflow) {
  for (const Named& tensor : all_tensors()) {
    const std::string name = tensor.name;
    for (const Index stride : {most, most / 2 + 1, -most, std::numeric_limits<Index>::min()}) {
      SCOPED_TRACE(std::string(tensor.name) + " stride " + std::to_string(stride));
      expect_mistake([&](ValidCall& a) { tensor.of(a).stride[2] = stride; },
                     {Code::overflow, tensor.name, "", 2, stride, 0});
    }
    // The sum of two axes is beyond 64 bits though neither is.
    const Index far = Index{1} << (name == "mask" ? 61 : 59);
    expect_mistake(
        [&](ValidCall& a) {
          Tensor& one = tensor.of(a);
          one.extent[0] = 2;
          one.stride[0] = 2 * far;
          one.stride[1] = one.extent[1] == 2 ? 2 * far : far;
        },
        {Code::overflow, tensor.name, "", 1, name == "key" || name == "value" ? 2 * far : far, 0});
    // Within 64 bits, and yet before the first address there is: by that many bytes.
    const Index below = -(Index{1} << 48), steps = name == "key" || name == "value" ? 1 : 3;
    expect_mistake([&](ValidCall& a) { tensor.of(a).stride[1] = below; },
                   {Code::overflow, tensor.name, "", -1, steps * below * (name == "mask" ? 1 : 4)});
  }
  // Extents whose product is beyond 64 bits reach far even with strides of 0.
  expect_no_mistake([](ValidCall& a) {
    a.key.stride = {0, 0, 0, 1};
    a.value.stride = {0, 0, 0, 1};
  });
}

TEST(Problem, output_elements_that_coincide) {
  for (const char* name : {"output", "lse", "weights"}) {
    for (const Named& tensor : all_tensors()) {
      if (std::string(name) != tensor.name) continue;
      for (std::size_t axis = 0; axis < (std::string(name) == "lse" ? 3 : 4); ++axis)
        expect_mistake([&](ValidCall& a) { tensor.of(a).stride[axis] = 0; },
                       {Code::stride, tensor.name, "", static_cast<Index>(axis), 0, 1});
    }
  }
  // Rows of 6 that are 5 apart, forwards and backwards.
  for (const Index stride : {5, -5})
    expect_mistake([&](ValidCall& a) { a.outputs.output.stride[2] = stride; },
                   {Code::stride, "output", "", 2, stride, 6});
  // Rows whose elements lie between those of other rows: none meets another, and yet.
  expect_mistake(
      [&](ValidCall& a) {
        a.outputs.output.stride = {1000, 100, 9, 2};
      },
      {Code::stride, "output", "", 2, 9, 11});
  expect_no_mistake([](ValidCall& a) {  // a stride of 0 on an extent of 1
    for (Tensor* tensor : {&a.query, &a.key, &a.value, &a.outputs.output}) {
      tensor->extent[0] = 1;
      tensor->stride[0] = 0;
    }
  });
  expect_no_mistake([](ValidCall& a) {  // in any order, and backwards
    a.outputs.output.stride = {72, 6, 24, -1};
    a.outputs.output.data = static_cast<std::byte*>(a.outputs.output.data) + 5 * 4;
  });
}

}  // namespace
}  // namespace scaledot::tests
