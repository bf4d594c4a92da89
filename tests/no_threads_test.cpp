// Where no thread can be started, the call runs serially. This program has its own pthread_create.
#include <atomic>
#include <cerrno>

#include <gtest/gtest.h>
#include <pthread.h>

#include "bug_case.hpp"
#include "tables.hpp"

namespace {

std::atomic<int> refused{0};

}  // namespace

extern "C" int pthread_create(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*) {
  ++refused;
  return EAGAIN;
}

namespace scaledot::tests {
namespace {

TEST(NoThreads, the_call_runs_serially) {
  const Call call{fill(3, {1, 4, 70, 16}),
                  fill(5, {1, 2, 3000, 16}),
                  fill(7, {1, 2, 3000, 16}),
                  {},
                  {},
                  {},
                  {}};
  for (const kernels::KernelTable* table : runnable_tables()) {
    const int before = refused;
    const Results one = made(call, {table, DType::f32, Arithmetic::f32, {}, 1}),
                  four = made(call, {table, DType::f32, Arithmetic::f32, {}, 4});
    EXPECT_TRUE(four.status.ok()) << describe(four.status);
    EXPECT_TRUE(same_bits(one.output, four.output)) << table->name;
    EXPECT_GT(refused, before) << "no thread was asked for";
  }
}

}  // namespace
}  // namespace scaledot::tests
