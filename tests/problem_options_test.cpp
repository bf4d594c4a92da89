// Every mistake that a caller can make in the options or by letting tensors overlap.
#include <cstring>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "mistake.hpp"
#include "view.hpp"

namespace scaledot::tests {
namespace {

using Code = Status::Code;
constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

TEST(Problem, scale) {
  for (const float scale : {nan, infinity, -infinity, 3.4e38f, -2.4e38f})
    expect_mistake([&](ValidCall& a) { a.options.scale = scale; },
                   {Code::option, "scale", "", -1, 0, 0, scale});
  // 2.3e38 * log2(e) = 3.32e38 is still a float.
  for (const float scale : {0.0f, -0.0f, -3.0f, 1e-45f, 2.3e38f, -2.3e38f})
    expect_no_mistake([&](ValidCall& a) { a.options.scale = scale; });
}

TEST(Problem, softcap) {
  // With 2.5e38 the product with log2(e) is infinite, and 1e-45 cannot be told from 0.
  for (const float softcap : {nan, infinity, -infinity, -1.0f, -1e-45f, 2.5e38f, 1e-45f})
    expect_mistake([&](ValidCall& a) { a.options.softcap = softcap; },
                   {Code::option, "softcap", "", -1, 0, 0, softcap});
  for (const float softcap : {0.0f, -0.0f, 1.0f, 50.0f})
    expect_no_mistake([&](ValidCall& a) { a.options.softcap = softcap; });
}

TEST(Problem, choices) {
  for (const int choice : {3, 200}) {
    expect_mistake([&](ValidCall& a) { a.options.causal = static_cast<Causal>(choice); },
                   {Code::option, "causal", "", -1, choice, 0});
    expect_mistake([&](ValidCall& a) { a.options.arithmetic = static_cast<Arithmetic>(choice); },
                   {Code::option, "arithmetic", "", -1, choice, 0});
  }
}

TEST(Problem, window) {
  for (const Index count : {Index{-2}, std::numeric_limits<Index>::min()}) {
    expect_mistake([&](ValidCall& a) { a.options.window.left = count; },
                   {Code::option, "window.left", "", -1, count, unlimited});
    expect_mistake([&](ValidCall& a) { a.options.window.right = count; },
                   {Code::option, "window.right", "", -1, count, unlimited});
  }
  for (const Index count : {unlimited, Index{0}, std::numeric_limits<Index>::max()})
    for (const Causal causal : {Causal::off, Causal::top_left, Causal::bottom_right})
      expect_no_mistake([&](ValidCall& a) {
        a.options.window = {count, count};
        a.options.causal = causal;
      });
}

TEST(Problem, threads) {
  for (const int threads : {-1, std::numeric_limits<int>::min()})
    expect_mistake([&](ValidCall& a) { a.options.threads = threads; },
                   {Code::option, "threads", "", -1, threads, 0});
  expect_no_mistake([](ValidCall& a) { a.options.threads = 1000; });
}

TEST(Problem, key_lengths) {
  for (const std::size_t count : {0u, 1u, 3u})
    expect_mistake(
        [&](ValidCall& a) {
          a.key_lengths.resize(count);
          a.options.key_lengths = a.key_lengths;
        },
        {Code::extent, "key_lengths", "query", -1, static_cast<Index>(count), 2});
  for (const auto& [length, nearest] :
       {std::pair<Index, Index>{-1, 0}, {6, 5}, {std::numeric_limits<Index>::min(), 0}})
    for (const Index entry : {0, 1})
      expect_mistake(
          [&, length = length](ValidCall& a) {
            a.key_lengths[static_cast<std::size_t>(entry)] = length;
            a.options.key_lengths = a.key_lengths;
          },
          {Code::option, "key_lengths", "", entry, length, nearest});
  for (const Index length : {0, 5})
    expect_no_mistake([&](ValidCall& a) {
      a.key_lengths[1] = length;
      a.options.key_lengths = a.key_lengths;
    });
}

TEST(Problem, workspace) {
  ValidCall call;
  std::size_t needed = 0;
  ASSERT_TRUE(
      workspace_bytes(call.query, call.key, call.value, call.outputs, call.options, needed).ok());
  ASSERT_GT(needed, 1u);
  std::vector<std::byte> memory(needed);
  for (const std::size_t bytes : {std::size_t{1}, needed - 1}) {
    expect_attend_mistake(
        [&](ValidCall& a) {
          a.options.workspace = {memory.data(), bytes};
        },
        {Code::extent, "workspace", "", -1, static_cast<Index>(bytes), static_cast<Index>(needed)});
  }
  expect_no_mistake([&](ValidCall& a) { a.options.workspace = memory; });
}

TEST(Problem, bf16_arithmetic_needs_bf16_tensors) {
  const auto all_bf16 = [](ValidCall& a) {
    a.query.dtype = a.key.dtype = a.value.dtype = DType::bf16;
    a.options.arithmetic = Arithmetic::bf16;
  };
  expect_no_mistake(all_bf16);
  for (const Named& tensor : all_tensors()) {
    const std::string name = tensor.name;
    if (name != "query" && name != "key" && name != "value") continue;
    for (const DType dtype : {DType::f32, DType::f16})
      expect_mistake(
          [&](ValidCall& a) {
            all_bf16(a);
            tensor.of(a).dtype = dtype;
          },
          {Code::dtype, tensor.name, "arithmetic", -1, static_cast<Index>(dtype),
           static_cast<Index>(DType::bf16)});
  }
}

// The bytes that a tensor of ValidCall spans.
Index bytes_in(const Tensor& tensor) {
  Index elements = 1;
  for (int axis = 0; axis < tensor.rank; ++axis)
    elements *= tensor.extent[static_cast<std::size_t>(axis)];
  return elements * bytes_of(tensor.dtype);
}

TEST(Problem, overlap) {
  for (const Named& written : all_tensors()) {
    const std::string name = written.name;
    if (name != "output" && name != "lse" && name != "weights") continue;
    for (const Named& met : all_tensors()) {
      if (&met == &written) continue;
      // Of two outputs the first one is said to meet the other.
      const std::string other = met.name;
      const bool first = &met < &written && (other == "output" || other == "lse");
      const Status want{Code::overlap, first ? met.name : written.name,
                        first ? written.name : met.name};
      SCOPED_TRACE(name + " meets " + met.name);
      const auto place = [&](Index distance) {  // of written's start from met's start, in bytes
        return [&written, &met, distance](ValidCall& a) {
          met.of(a);
          written.of(a).data = static_cast<std::byte*>(met.of(a).data) + distance;
        };
      };
      ValidCall plain;
      const Index length = bytes_in(met.of(plain)), own = bytes_in(written.of(plain));
      const Index last = (length - 1) / 4 * 4;  // aligned for written, and still inside met
      expect_mistake(place(0), want);
      expect_mistake(place(last), want);
      expect_mistake(place(4 - own), want);
      // Neighbours touch and do not meet.
      expect_no_mistake(place((length + 3) / 4 * 4));
      expect_no_mistake(place(-own));
    }
  }
}

TEST(Problem, overlap_with_what_is_no_tensor) {
  for (const char* name : {"output", "lse", "weights"}) {
    for (const Named& written : all_tensors()) {
      if (std::string(name) != written.name) continue;
      expect_mistake(
          [&](ValidCall& a) {
            auto* at = static_cast<std::byte*>(written.of(a).data);
            a.options.key_lengths = {reinterpret_cast<const Index*>(at + 8), 2};
            std::memcpy(at + 8, a.key_lengths.data(), 16);
          },
          {Code::overlap, written.name, "key_lengths", -1, 0, 0});
    }
  }
  ValidCall call;
  std::size_t needed = 0;
  ASSERT_TRUE(
      workspace_bytes(call.query, call.key, call.value, call.outputs, call.options, needed).ok());
  needed = needed / 8 * 8 + (1 << 20);
  std::vector<std::byte> memory(2 * needed);
  for (const Named& met : all_tensors()) {
    const std::string name = met.name;
    const bool is_output = name == "output" || name == "lse" || name == "weights";
    expect_attend_mistake(
        [&](ValidCall& a) {
          met.of(a).data = memory.data() + needed;
          a.options.workspace = {memory.data(), needed + 1};
        },
        is_output ? Status{Code::overlap, met.name, "workspace"}
                  : Status{Code::overlap, "workspace", met.name});
    expect_no_mistake([&](ValidCall& a) {
      met.of(a).data = memory.data() + needed;
      a.options.workspace = {memory.data(), needed};
    });
  }
}

TEST(Problem, no_overlap_of_what_is_empty) {
  expect_no_mistake([](ValidCall& a) {
    for (Tensor* tensor : {&a.query, &a.key, &a.value, &a.outputs.output}) tensor->extent[0] = 0;
    a.outputs.output.data = a.query.data;
  });
  expect_no_mistake([](ValidCall& a) {  // no keys: key and value are empty, and lie inside output
    a.key.extent[2] = a.value.extent[2] = 0;
    a.key.data = a.value.data = static_cast<std::byte*>(a.outputs.output.data) + 8;
  });
  expect_mistake(  // a negative stride reaches to the left
      [](ValidCall& a) {
        a.outputs.output.data = static_cast<std::byte*>(a.outputs.output.data) + 3 * 144 * 4;
        a.outputs.output.stride[0] = -72;
        a.query.data = static_cast<std::byte*>(a.outputs.output.data) - 72 * 4;
      },
      {Code::overlap, "output", "query", -1, 0, 0});
  expect_no_mistake([](ValidCall& a) {  // query, key and value may share memory
    a.key.data = a.value.data = a.query.data;
  });
}

}  // namespace
}  // namespace scaledot::tests
