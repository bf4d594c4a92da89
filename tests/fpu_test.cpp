// The caller's floating-point control: left as it is, and without effect on the result.
#include <cfenv>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>
#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "bug_case.hpp"
#include "dispatch.hpp"

namespace scaledot::tests {
namespace {

// The control and status words of the processor, as far as a caller can see them.
struct Control {
  std::uint64_t vector = 0;
  std::uint64_t status = 0;
  bool operator==(const Control&) const = default;
};

Control control_now() {
#if defined(__SSE2__)
  std::uint16_t x87 = 0;
  asm volatile("fnstcw %0" : "=m"(x87));
  return {_mm_getcsr(), x87};
#elif defined(__aarch64__)
  Control control;
  asm volatile("mrs %0, fpcr" : "=r"(control.vector));
  asm volatile("mrs %0, fpsr" : "=r"(control.status));
  return control;
#endif
}

void set_control(std::uint64_t vector) {
#if defined(__SSE2__)
  _mm_setcsr(static_cast<unsigned>(vector));
#elif defined(__aarch64__)
  asm volatile("msr fpcr, %0" : : "r"(vector));
#endif
}

#if defined(__SSE2__)
constexpr std::uint64_t flush = 0x8040;     // FTZ and DAZ
constexpr std::uint64_t exceptions = 0x3F;  // their flags are in the same word
// Without these bits invalid, division by zero, overflow and underflow trap.
constexpr std::uint64_t all_traps = 0x0E80;
#else
constexpr std::uint64_t flush = 1u << 24;  // FZ
constexpr std::uint64_t exceptions = 0;
#endif

// Logits and weights of all sizes, denormal ones included, and work for more threads than one.
Call uneven_call() {
  Call call{
      fill(3, {1, 2, 40, 12}), fill(5, {1, 1, 150, 12}), fill(7, {1, 1, 150, 9}), {}, {}, {}, {}};
  call.options.scale = 7.3f;
  call.options.softcap = 30;
  call.bias = each({1, 1, 40, 150}, [](Index, Index, Index i, Index j) {
    return j % 7 == 0 ? -std::numeric_limits<float>::infinity() : static_cast<float>((i - j) % 5);
  });
  return call;
}

// made() under that control; also expects that the control is still the same afterwards.
Results made_under(const Call& call, const Way& way, std::uint64_t vector) {
  // What the call is made of is stored before the control changes.
  const Stored query(call.query, way.dtype), key(call.key, way.dtype), value(call.value, way.dtype),
      bias(*call.bias, DType::f32), output(constant(-1, {1, 2, 40, 9}), DType::f32),
      lse(constant(-1, {1, 2, 40}), DType::f32);
  Options options = call.options;
  options.bias = bias.tensor;
  options.arithmetic = way.arithmetic;
  options.threads = way.threads;
  const Outputs outputs{output.tensor, lse.tensor, {}};
  const Control before = control_now();
  std::feclearexcept(FE_ALL_EXCEPT);
  set_control(vector & ~exceptions);
  const Control during = control_now();
  const Status status =
      attend_on(*way.table, query.tensor, key.tensor, value.tensor, outputs, options, way.paths);
  const Control after = control_now();
  set_control(before.vector);
  EXPECT_TRUE(status.ok()) << describe(status);
  EXPECT_EQ(after.vector, during.vector) << "the control or the flags have changed";
  EXPECT_EQ(after.status, during.status);
  return {status, read(output.tensor), read(lse.tensor), {}};
}

void expect_same_under(std::uint64_t vector, const char* what) {
  Call call = uneven_call();
  const std::uint64_t plain = control_now().vector;
  for (const std::optional<float> scale : {call.options.scale, std::optional<float>()}) {
    call.options.scale = scale;
    for (const Way& way : ways(call)) {
      SCOPED_TRACE(std::string(what) + ", " + way.name());
      const Results want = made_under(call, way, plain), got = made_under(call, way, vector);
      ASSERT_TRUE(same_bits(got.output, want.output) && same_bits(got.lse, want.lse));
    }
  }
}

TEST(Fpu, other_rounding_modes_change_no_bit) {
  const int nearest = std::fegetround();
  for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    ASSERT_EQ(std::fesetround(mode), 0);
    const std::uint64_t vector = control_now().vector;
    std::fesetround(nearest);
    expect_same_under(vector, "another rounding mode");
  }
}

TEST(Fpu, flushing_in_the_caller_changes_no_bit) {
  expect_same_under(control_now().vector | flush, "flushing");
}

#if defined(__SSE2__)
TEST(Fpu, traps_that_the_caller_asked_for_are_not_sprung) {
  std::feclearexcept(FE_ALL_EXCEPT);
  expect_same_under(control_now().vector & ~all_traps, "traps");
}
#endif

// What a loop of the caller's own finds, in which it may start threads that inherit it.
struct OwnLoop {
  Control found;
  int runs = 0;

  static void run(void* self, Index count, int, ParallelFor::Task task, void* data) {
    OwnLoop& loop = *static_cast<OwnLoop*>(self);
    loop.found = control_now();
    for (Index index = 0; index < count; ++index) task(data, index, 0);
    const Control after = control_now();
    EXPECT_EQ(after.vector, loop.found.vector) << "a task has left another mode";
    EXPECT_EQ(after.status, loop.found.status);
    ++loop.runs;
  }
};

TEST(Fpu, a_loop_of_the_callers_runs_in_the_callers_mode) {
  Call call = uneven_call();
  const Way way{usable_tables().front(), DType::f32, Arithmetic::f32, {}, 2};
  const std::uint64_t plain = control_now().vector & ~exceptions;
  const Results want = made_under(call, way, plain);
  for (const std::uint64_t vector : {plain, plain | flush}) {
    OwnLoop loop;
    call.options.parallel_for = {OwnLoop::run, &loop};
    const Results got = made_under(call, way, vector);
    EXPECT_GT(loop.runs, 0);
    EXPECT_EQ(loop.found.vector, vector);
    EXPECT_TRUE(same_bits(got.output, want.output) && same_bits(got.lse, want.lse));
  }
}

TEST(Fpu, what_a_loop_of_the_callers_leaves_behind_stays) {
  Call call = uneven_call();
  call.options.parallel_for.run = [](void*, Index count, int, ParallelFor::Task task, void* data) {
    for (Index index = 0; index < count; ++index) task(data, index, 0);
    std::feraiseexcept(FE_DIVBYZERO);
    std::fesetround(FE_UPWARD);
  };
  std::feclearexcept(FE_ALL_EXCEPT);
  const int before = std::fegetround();
  const Results results = made(call, {usable_tables().front(), DType::f32, Arithmetic::f32, {}, 2});
  const int after = std::fegetround();
  std::fesetround(before);
  EXPECT_TRUE(results.status.ok());
  EXPECT_EQ(after, FE_UPWARD);
  EXPECT_NE(std::fetestexcept(FE_DIVBYZERO), 0);
}

// CTranslate2#1018, llvm#57589: denormals were lost in the caller after a library was loaded.
TEST(BugCases, D074_denormals_survive_in_the_caller) {
  const Call call = uneven_call();
  volatile double small = 1e-310, one = 1;
  volatile float smallest = std::numeric_limits<float>::denorm_min();
  EXPECT_GT(small * one, 0);
  for (const Way& way : ways(call)) {
    ASSERT_TRUE(made(call, way).status.ok());
    ASSERT_EQ(small * one, 1e-310) << way.name();
    ASSERT_GT(smallest * static_cast<float>(one), 0) << way.name();
  }
}

}  // namespace
}  // namespace scaledot::tests
