// Bug cases that need gigabytes of address space or minutes; not among the usual tests.
#include <cstddef>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>
#include <sys/mman.h>

#include "attention.hpp"
#include "tables.hpp"

namespace scaledot::tests {
namespace {

// pytorch#187227: the offset of a mask's row was counted in 32 bits, so that rows after number
// 2^32 / keys read those of other queries. The mask is 4.3 GB of which 0.3 GB is touched.
TEST(LargeBugCases, D057_mask_of_more_than_2_to_the_32_elements) {
  const Index length = 65600;
  const std::size_t bytes = static_cast<std::size_t>(length * length);
  void* mapping = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(mapping, MAP_FAILED);
  madvise(mapping, bytes, MADV_NOHUGEPAGE);
  auto* mask = static_cast<std::uint8_t*>(mapping);
  for (Index i = 0; i < length; ++i) mask[i * length + i] = 1;

  std::vector<float> zeros(static_cast<std::size_t>(length)), value(zeros), output(zeros);
  for (std::size_t j = 0; j < value.size(); ++j) value[j] = static_cast<float>(j);
  Options options;
  options.mask = contiguous(mask, DType::boolean, {length, length});
  for (const kernels::KernelTable* table : runnable_tables()) {
    output.assign(output.size(), -1);
    const Tensor query = contiguous(zeros.data(), DType::f32, {length, 1});
    const Status status =
        attend_on(*table, query, query, contiguous(value.data(), DType::f32, {length, 1}),
                  {contiguous(output.data(), DType::f32, {length, 1}), {}, {}}, options);
    ASSERT_TRUE(status.ok()) << describe(status);
    for (std::size_t i = 0; i < output.size(); ++i)
      ASSERT_EQ(output[i], value[i]) << table->name << ", row " << i;
  }
  munmap(mapping, bytes);
}

}  // namespace
}  // namespace scaledot::tests
