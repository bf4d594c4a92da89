// What describe() tells a person, word by word.
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "scaledot/attention.hpp"

namespace scaledot::tests {
namespace {

using Code = Status::Code;

TEST(Describe, tensors) {
  EXPECT_EQ(describe({}), "ok");
  EXPECT_EQ(describe({Code::extent, "key", "query", 3, 64, 128}),
            "key: axis 3 is 64, expected 128 as in query");
  EXPECT_EQ(describe({Code::extent, "query", "", 2, -5, 0}),
            "query: axis 2 is -5, expected 0 or more");
  EXPECT_EQ(describe({Code::extent, "query", "key", 1, 7, 6}),
            "query: axis 1 is 7 heads, expected a multiple of key's heads such as 6");
  EXPECT_EQ(describe({Code::rank, "key", "query", -1, 3, 4}),
            "key has rank 3, expected 4 to go with query");
  EXPECT_EQ(describe({Code::rank, "query", "", -1, 1, 2}), "query has rank 1, expected 2");
  EXPECT_EQ(describe({Code::null_data, "value"}),
            "value has elements but no data (a null pointer)");
  EXPECT_EQ(describe({Code::alignment, "bias", "", -1, 3, 0}),
            "bias: data is 3 bytes off a multiple of its element's size, expected 0");
  EXPECT_EQ(
      describe({Code::stride, "output", "", 1, 0, 18}),
      "output: axis 1 has stride 0, which makes elements share a place; expected at least 18");
  EXPECT_EQ(describe({Code::stride, "output", "", 1, 3, 5}),
            "output: axis 1 has stride 3, which makes axes interleave; expected at least 5");
  EXPECT_EQ(describe({Code::stride, "output", "", 1, -3, 5}),
            "output: axis 1 has stride -3, which makes axes interleave; expected at most -5");
  EXPECT_EQ(describe({Code::overflow, "key", "", 0, std::numeric_limits<Index>::max()}),
            "key: axis 0 reaches beyond 64-bit addresses (9223372036854775807)");
  EXPECT_EQ(describe({Code::overlap, "lse", "query"}), "lse lies in the same memory as query");
  EXPECT_EQ(describe({Code::dtype, "mask", "", -1, 0, 3}), "mask is f32, expected boolean");
  EXPECT_EQ(describe({Code::dtype, "key", "", -1, 200, 0}),
            "key is of unknown type 200, expected f32, f16 or bf16");
  EXPECT_EQ(describe({Code::dtype, "mask", "", -1, 200, 0}),
            "mask is of unknown type 200, expected boolean");
  EXPECT_EQ(describe({Code::dtype, "lse", "", -1, 1, 0}), "lse is f16, expected f32");
  EXPECT_EQ(describe({Code::dtype, "bias", "", -1, 3, 0}),
            "bias is boolean, expected f32, f16 or bf16");
  EXPECT_EQ(describe({Code::dtype, "key", "arithmetic", -1, 1, 2}),
            "key is f16, expected bf16 for bf16 arithmetic");
}

TEST(Describe, options) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(describe({Code::option, "scale", "", -1, 0, 0, infinity}),
            "scale is inf, expected a finite number whose product with log2(e) is finite");
  EXPECT_EQ(describe({Code::option, "softcap", "", -1, 0, 0, -1.5}),
            "softcap is -1.5, expected a finite number: 0, which is off, or a positive one");
  EXPECT_EQ(describe({Code::option, "softcap", "", -1, 0, 0, infinity}),
            "softcap is inf, expected a finite number: 0, which is off, or a positive one");
  EXPECT_EQ(describe({Code::option, "softcap", "", -1, 0, 0, 1e38}),
            "softcap is 1e+38, expected one for which softcap * log2(e) and scale / softcap are in "
            "f32's range");
  EXPECT_EQ(describe({Code::option, "causal", "", -1, 3, 0}), "causal is 3, expected 0, 1 or 2");
  EXPECT_EQ(describe({Code::option, "arithmetic", "", -1, 9, 0}),
            "arithmetic is 9, expected 0, 1 or 2");
  EXPECT_EQ(describe({Code::option, "window.left", "", -1, -2, -1}),
            "window.left is -2, expected 0 or more, or -1 for unlimited");
  EXPECT_EQ(describe({Code::option, "threads", "", -1, -4, 0}),
            "threads is -4, expected 0 or more");
  EXPECT_EQ(describe({Code::option, "key_lengths", "", 1, -3, 0}),
            "key_lengths: entry 1 is -3, expected 0 or more");
  EXPECT_EQ(describe({Code::option, "key_lengths", "", 0, 6, 5}),
            "key_lengths: entry 0 is 6, expected at most the 5 keys");
  EXPECT_EQ(describe({Code::extent, "key_lengths", "query", -1, 3, 2}),
            "key_lengths has 3 entries, expected 2, one a batch entry");
  EXPECT_EQ(describe({Code::extent, "workspace", "", -1, 10, 4096}),
            "workspace has 10 bytes, expected 4096");
  EXPECT_EQ(describe({Code::out_of_memory, "workspace", "", -1, 0, 4096}),
            "out of memory: workspace needs 4096 bytes");
  EXPECT_EQ(describe({Code::out_of_memory, "workspace"}),
            "out of memory: workspace would be larger than the address space");
  EXPECT_EQ(describe({Code::option, "SCALEDOT_ISA"}),
            "SCALEDOT_ISA names no instruction set that this machine and build can run");
  EXPECT_EQ(describe({Code::option, "SCALEDOT_THREADS"}),
            "SCALEDOT_THREADS is not a number from 1 to 65536");
}

TEST(Describe, a_code_that_does_not_exist) {
  EXPECT_EQ(describe({static_cast<Code>(77)}), "status 77 is unknown");
}

}  // namespace
}  // namespace scaledot::tests
