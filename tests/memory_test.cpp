// Allocation that fails, and calls that may not allocate.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "allocations.hpp"
#include "bug_case.hpp"
#include "dispatch.hpp"
#include "scaledot/attention.h"
#include "tables.hpp"

namespace scaledot::tests {
namespace {

// A call with memory of its own for all that it takes.
struct Shape {
  Shape(Index queries, Index keys)
      : query(fill(3, {1, 4, queries, 16}), DType::f32),
        key(fill(5, {1, 2, keys, 16}), DType::f32),
        value(fill(7, {1, 2, keys, 16}), DType::f32),
        output(constant(-1, {1, 4, queries, 16}), DType::f32),
        weights(constant(-1, {1, 4, queries, keys}), DType::f32),
        outputs{output.tensor, {}, weights.tensor} {}

  Status attended(const kernels::KernelTable& table, const Options& options) {
    return attend_on(table, query.tensor, key.tensor, value.tensor, outputs, options);
  }
  bool untouched() const {
    return read(output.tensor) == constant(-1, output_extent()).at &&
           read(weights.tensor) == constant(-1, weights_extent()).at;
  }
  Extents output_extent() const {
    return {output.tensor.extent.begin(), output.tensor.extent.end()};
  }
  Extents weights_extent() const {
    return {weights.tensor.extent.begin(), weights.tensor.extent.end()};
  }

  Stored query, key, value, output, weights;
  Outputs outputs;
};

std::vector<Shape> shapes() {
  std::vector<Shape> all;
  for (const auto& [queries, keys] :
       {std::pair<Index, Index>{1, 3000}, {1, 5}, {70, 300}, {300, 70}})
    all.emplace_back(queries, keys);
  return all;
}

TEST(Memory, the_first_allocation_fails) {
  for (const kernels::KernelTable* table : runnable_tables()) {
    for (Shape& shape : shapes()) {
      for (const int threads : {1, 2}) {
        Options options;
        options.threads = threads;
        release_memory();
        allowed = 0;
        const Status status = shape.attended(*table, options);
        allowed = all_allocations;
        EXPECT_EQ(status.code, Status::Code::out_of_memory) << describe(status);
        EXPECT_STREQ(status.argument, "workspace");
        EXPECT_GT(status.expected, 0);
        EXPECT_EQ(status.got, 0);
        EXPECT_TRUE(shape.untouched());
      }
    }
  }
}

// Whichever allocation fails, the call fails before it writes, or succeeds without it (as it does
// without a second thread).
TEST(Memory, any_allocation_fails) {
  const kernels::KernelTable& table = *usable_tables().front();
  for (Shape& shape : shapes()) {
    for (const int threads : {1, 3}) {
      Options options;
      options.threads = threads;
      for (long n = 0; n < 40; ++n) {
        Shape fresh(shape.query.tensor.extent[2], shape.key.tensor.extent[2]);
        release_memory();
        allowed = n;
        const long before = live();
        const Status status = fresh.attended(table, options);
        release_memory();
        const long after = live();
        const bool failed = allowed < 0;
        allowed = all_allocations;
        if (status.ok()) {
          EXPECT_EQ(after, before) << "something was not released";
          EXPECT_FALSE(fresh.untouched());
        } else {
          EXPECT_EQ(status.code, Status::Code::out_of_memory) << describe(status);
          EXPECT_TRUE(fresh.untouched());
        }
        if (!failed) break;
        ASSERT_LT(n, 39) << "more allocations than a call should need";
      }
    }
  }
}

TEST(Memory, a_workspace_is_all_that_is_needed) {
  for (Shape& shape : shapes()) {
    Options options;
    options.threads = 1;
    std::size_t bytes = 0;
    ASSERT_TRUE(workspace_bytes(shape.query.tensor, shape.key.tensor, shape.value.tensor,
                                shape.outputs, options, bytes)
                    .ok());
    // At any alignment, and with what lies around it unchanged.
    for (std::size_t first : {0u, 1u, 4u, 63u}) {
      std::vector<std::byte> memory(first + bytes + 64, std::byte{0x5A});
      options.workspace = {memory.data() + first, bytes};
      allowed = 0;
      const Status status =
          attend(shape.query.tensor, shape.key.tensor, shape.value.tensor, shape.outputs, options);
      const long asked = -allowed;
      allowed = all_allocations;
      EXPECT_TRUE(status.ok()) << describe(status);
      EXPECT_EQ(asked, 0) << "something was allocated";
      for (std::size_t n = 0; n < memory.size(); ++n)
        if (n < first || n >= first + bytes) {
          ASSERT_EQ(memory[n], std::byte{0x5A}) << n;
        }
    }
  }
}

// What is needed grows with keys and threads, not with queries * keys.
TEST(Memory, the_workspace_does_not_grow_with_the_square) {
  const auto bytes = [](Index length, int threads) {
    Options options;
    options.threads = threads;
    std::size_t needed = 0;
    const Tensor rows = contiguous(&needed, DType::f32, {length, 64});
    Tensor output = rows;
    output.data = &needed + length * 64;
    EXPECT_TRUE(workspace_bytes(rows, rows, rows, {output, {}, {}}, options, needed).ok());
    return needed;
  };
  EXPECT_LE(bytes(1 << 20, 1), 17 * bytes(1 << 16, 1));
  EXPECT_LE(bytes(1 << 20, 1), std::size_t{1} << 30);
}

TEST(Memory, only_a_first_call_allocates) {
  const kernels::KernelTable& table = *usable_tables().front();
  for (Shape& shape : shapes()) {
    Options options;
    options.threads = 2;
    release_memory();
    const long none = allocations;
    ASSERT_TRUE(shape.attended(table, options).ok());
    EXPECT_EQ(allocations, none + 1);
    const long before = allocations, kept = live();
    for (int n = 0; n < 3; ++n) EXPECT_TRUE(shape.attended(table, options).ok());
    EXPECT_EQ(allocations, before);
    EXPECT_EQ(live(), kept);
  }
}

TEST(Memory, what_is_kept_can_be_released) {
  Shape shape(70, 300);
  using Release = void (*)();
  for (const Release release_all : {Release{release_memory}, Release{scaledot_release_memory}}) {
    release_memory();
    const long none = live();
    ASSERT_TRUE(shape.attended(*usable_tables().front(), {}).ok());
    EXPECT_EQ(live(), none + 1);
    release_all();
    EXPECT_EQ(live(), none);
  }
}

}  // namespace
}  // namespace scaledot::tests
