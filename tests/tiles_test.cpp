// The tile unit from the process's side: when its permission is asked for, what happens where it is
// refused, and what a call leaves of a caller's own tiles. Its bits: bits_test and golden_test.
#include <immintrin.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "attention.hpp"
#include "dispatch.hpp"
#include "fresh_process.hpp"
#include "scaledot/attention.hpp"
#include "scaledot/machine.hpp"

namespace scaledot::tests {
namespace {

class Tiles : public ::testing::Test {
 protected:
  void SetUp() override {
    if (usable_tables().front() != &kernels::amx_table)
      GTEST_SKIP() << "the processor has no tiles for bf16, or they are not saved";
  }
};

// Whether Linux has granted this process the tiles.
bool is_granted() {
  constexpr long get_permission = 0x1022;  // ARCH_GET_XCOMP_PERM
  unsigned long features = 0;
  return syscall(SYS_arch_prctl, get_permission, &features) == 0 && (features >> 18 & 1) != 0;
}

// 40 queries and 300 keys of 64 dims, all bf16.
struct Shape {
  std::vector<std::uint16_t> memory, result;
  Shape() : memory(300 * 64), result(40 * 64) {
    for (std::size_t n = 0; n < memory.size(); ++n)
      memory[n] = static_cast<std::uint16_t>(0x3E00 + n * 37 % 256 + n % 2 * 0x8000);
  }
  Status attended(Arithmetic arithmetic, const kernels::KernelTable* table = nullptr) {
    const Tensor query = contiguous(memory.data(), DType::bf16, {40, 64});
    const Tensor key = contiguous(memory.data(), DType::bf16, {300, 64});
    const Outputs outputs{contiguous(result.data(), DType::bf16, {40, 64}), {}, {}};
    Options options;
    options.arithmetic = arithmetic;
    options.threads = 1;
    return table == nullptr ? attend(query, key, key, outputs, options)
                            : attend_on(*table, query, key, key, outputs, options, {});
  }
};

struct alignas(64) TileConfiguration {
  std::uint8_t bytes[64] = {};
};
TileConfiguration configuration() {
  TileConfiguration now;
  _tile_storeconfig(&now);
  return now;
}

}  // namespace

TEST_F(Tiles, are_asked_for_by_the_first_call_in_bf16_arithmetic) {
  if (!fresh_process()) {
    EXPECT_EQ(in_fresh_process(this_test().c_str(), {"SCALEDOT_ISA"}), 0);
    EXPECT_EQ(in_fresh_process(this_test().c_str(), {"SCALEDOT_ISA=avx512"}), 0);
    return;
  }
  Shape shape;
  machine();
  ASSERT_TRUE(shape.attended(Arithmetic::f32).ok());
  EXPECT_FALSE(is_granted());
  ASSERT_TRUE(shape.attended(Arithmetic::automatic).ok());
  EXPECT_EQ(is_granted(), std::getenv("SCALEDOT_ISA") == nullptr);
}

// Linux refuses the tiles to a process with an alternate signal stack that is too small for them.
TEST_F(Tiles, refused_are_replaced_unless_they_were_named) {
  if (!fresh_process()) {
    EXPECT_EQ(in_fresh_process(this_test().c_str(), {"SCALEDOT_ISA"}), 0);
    EXPECT_EQ(in_fresh_process(this_test().c_str(), {"SCALEDOT_ISA=amx"}), 0);
    return;
  }
  std::vector<char> memory(4096);
  stack_t small{};
  small.ss_sp = memory.data();
  small.ss_size = memory.size();
  ASSERT_EQ(sigaltstack(&small, nullptr), 0);

  Shape shape, plain;
  const Status status = shape.attended(Arithmetic::bf16);
  ASSERT_FALSE(is_granted());
  if (std::getenv("SCALEDOT_ISA") != nullptr) {
    EXPECT_EQ(status.code, Status::Code::option);
    EXPECT_STREQ(status.argument, "SCALEDOT_ISA");
  } else {
    EXPECT_TRUE(status.ok());
    ASSERT_TRUE(plain.attended(Arithmetic::bf16, &kernels::avx512_table).ok());
    EXPECT_EQ(shape.result, plain.result);
  }
  small.ss_flags = SS_DISABLE;
  sigaltstack(&small, nullptr);
}

TEST_F(Tiles, run_bf16_arithmetic_alone) {
  Shape shape;
  ASSERT_TRUE(shape.attended(Arithmetic::bf16, &kernels::amx_table).ok());
  if (!is_granted()) GTEST_SKIP() << "the operating system refuses the tiles";
  EXPECT_EQ(&table_for(kernels::amx_table, true), &kernels::amx_table);
  EXPECT_EQ(&table_for(kernels::amx_table, false), &kernels::avx512_table);
  EXPECT_EQ(&table_for(kernels::avx512_table, true), &kernels::avx512_table);
}

TEST_F(Tiles, callers_configuration_is_as_before) {
  Shape shape;
  ASSERT_TRUE(shape.attended(Arithmetic::bf16, &kernels::amx_table).ok());
  if (!is_granted()) GTEST_SKIP() << "the operating system refuses the tiles";
  TileConfiguration own;  // palette 1, one tile of 3 rows of 12 bytes
  own.bytes[0] = 1;
  own.bytes[16] = 12;
  own.bytes[48] = 3;
  _tile_loadconfig(&own);
  const Status status = shape.attended(Arithmetic::bf16, &kernels::amx_table);
  const TileConfiguration after = configuration();
  _tile_release();
  ASSERT_TRUE(status.ok());
  EXPECT_EQ(std::memcmp(&after, &own, sizeof own), 0);

  ASSERT_TRUE(shape.attended(Arithmetic::bf16, &kernels::amx_table).ok());
  const TileConfiguration none, left = configuration();
  EXPECT_EQ(std::memcmp(&left, &none, sizeof none), 0);
}

}  // namespace scaledot::tests
