// Many callers at once, short-lived callers, small stacks, and races.
#include <algorithm>
#include <barrier>
#include <cmath>
#include <cstdio>
#include <functional>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <pthread.h>
#include <unistd.h>

#include "bug_case.hpp"
#include "cases.hpp"
#include "dispatch.hpp"
#include "fresh_process.hpp"
#include "tables.hpp"

namespace scaledot::tests {
namespace {

// The mean of the numbers of the keys, through the public function.
bool mean_is_right(DType dtype, Index queries, Index keys, Index dim, int threads) {
  const Stored query(constant(0, {1, 1, queries, dim}), dtype),
      key(constant(0, {1, 1, keys, dim}), dtype),
      value(each({1, 1, keys, dim}, [](Index, Index, Index j, Index) { return j % 2; }), dtype),
      output(constant(-1, {1, 1, queries, dim}), dtype);
  Options options;
  options.threads = threads;
  const Status status =
      attend(query.tensor, key.tensor, value.tensor, {output.tensor, {}, {}}, options);
  return status.ok() && read(output.tensor) == constant(0.5, {queries * dim}).at;
}

// Sixteen threads make their first call at once, of different types and sizes.
bool sixteen_first_calls() {
  std::barrier start(16);
  bool right[16] = {};
  std::vector<std::thread> callers;
  for (int n = 0; n < 16; ++n)
    callers.emplace_back([&start, &good = right[n], n] {
      start.arrive_and_wait();
      const DType types[] = {DType::f32, DType::f16, DType::bf16};
      good = mean_is_right(types[n % 3], 1 + n * 5, 2 + n * 34, 4 + n, 1 + n % 2);
    });
  for (std::thread& caller : callers) caller.join();
  for (const bool good : right)
    if (!good) return false;
  return true;
}

// pytorch#187912: first calls at the same time shared a kernel that was being made.
TEST(BugCases, D070_first_calls_at_once) {
  ASSERT_TRUE(sixteen_first_calls());
  if (fresh_process()) return;
  for (Index run = 0; run < effort(100); ++run)
    ASSERT_EQ(in_fresh_process(this_test().c_str(), {}), 0) << "process " << run;
}

TEST(Threads, many_callers_get_the_bits_of_one) {
  const Call call{
      fill(3, {1, 4, 70, 16}), fill(5, {1, 2, 200, 16}), fill(7, {1, 2, 200, 16}), {}, {}, {}, {}};
  std::vector<Results> wants;
  for (const Way& way : ways(call)) wants.push_back(made(call, way));
  std::vector<int> wrong(16);
  std::vector<std::thread> callers;
  for (int n = 0; n < 16; ++n)
    callers.emplace_back([&call, &wants, &count = wrong[static_cast<std::size_t>(n)]] {
      std::size_t want = 0;
      for (const Way& way : ways(call))
        count += !same_bits(made(call, way).output, wants[want++].output);
    });
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(wrong, std::vector<int>(16, 0));
}

// flash-linear-attention#889: an unguarded sum that threads share. ThreadSanitizer is the judge.
TEST(BugCases, D069_eight_heads_on_one_with_four_threads) {
  const Call call{fill(3, {1, 8, 60, 16}),
                  fill(5, {1, 1, 2100, 16}),
                  fill(7, {1, 1, 2100, 16}),
                  {},
                  {},
                  {},
                  {}};
  for (const kernels::KernelTable* table : runnable_tables()) {
    for (const Index queries : {1, 60}) {
      Call part = call;
      part.query = fill(3, {1, 8, queries, 16});
      const Results one = made(part, {table, DType::f32, Arithmetic::f32, {}, 1}),
                    four = made(part, {table, DType::f32, Arithmetic::f32, {}, 4});
      EXPECT_TRUE(same_bits(one.output, four.output)) << table->name;
    }
  }
}

// Runs on a thread with a stack of 128 KiB.
void* run_function(void* function) {
  (*static_cast<std::function<void()>*>(function))();
  return nullptr;
}
void on_small_stack(std::function<void()> function) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, 128 << 10), 0);
  pthread_t thread;
  ASSERT_EQ(pthread_create(&thread, &attributes, run_function, &function), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

// llama.cpp#28798: a crash on long prompts where stacks are small.
TEST(BugCases, D072_a_stack_of_128_kib) {
  const Index length = effort(8192), dim = 128;
  std::vector<float> zeros(static_cast<std::size_t>(length * dim)), values(zeros), output(zeros);
  for (std::size_t n = 0; n < values.size(); ++n) values[n] = static_cast<float>(n / dim % 64);
  const auto rows = [&](std::vector<float>& memory, Index queries) {
    return contiguous(memory.data(), DType::f32, {queries, dim});
  };
  for (const kernels::KernelTable* table : runnable_tables()) {
    // A long prompt on the table in use, and on the others what does not take seconds.
    const Index queries = table == table_in_use() ? length : 300;
    for (const int threads : {1, 2}) {
      Status status;
      Options options;
      options.threads = threads;
      on_small_stack([&] {
        status = attend_on(*table, rows(zeros, queries), rows(zeros, length), rows(values, length),
                           {rows(output, queries), {}, {}}, options);
      });
      ASSERT_TRUE(status.ok()) << describe(status);
      for (Index n = 0; n < queries * dim; ++n)
        ASSERT_EQ(output[static_cast<std::size_t>(n)], 31.5f) << table->name;
    }
  }
  for (const Call& call : {Call{fill(3, {1, 2, 40, 256}),
                                fill(5, {1, 1, 300, 256}),
                                fill(7, {1, 1, 300, 256}),
                                {},
                                {},
                                {},
                                {}}}) {
    for (const Way& way : ways(call)) {
      const Results want = made(call, way);
      Results got;
      on_small_stack([&] { got = made(call, way); });
      EXPECT_TRUE(same_bits(got.output, want.output)) << way.name();
    }
  }
}

// Bytes that this process has in memory.
std::size_t resident_bytes() {
  std::size_t total = 0, resident = 0;
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr || std::fscanf(file, "%zu %zu", &total, &resident) != 2) resident = 0;
  if (file != nullptr) std::fclose(file);
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

// pytorch#64412: memory grew with every new caller.
TEST(BugCases, D073_a_thousand_short_lived_callers) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer keeps memory of its own for each thread";
#endif
  if (is_emulated()) GTEST_SKIP() << "the emulator keeps memory of its own for each thread";
  std::size_t early = 0;
  for (Index n = 0; n < effort(1000); ++n) {
    bool right = false;
    std::thread([&] { right = mean_is_right(DType::f32, 512, 512, 8, n % 2 == 0 ? 1 : 2); }).join();
    ASSERT_TRUE(right);
    if (n == 20) early = resident_bytes();
  }
  ASSERT_GT(early, 0u);
  EXPECT_LT(resident_bytes(), early + (10u << 20));
}

// Runs tasks one after the other, and notes when the output of each batch entry is whole.
struct InOrder {
  const std::vector<float>& output;
  Index entries;
  std::vector<Index> whole;

  static void run(void* self, Index count, int, ParallelFor::Task task, void* data) {
    InOrder& order = *static_cast<InOrder*>(self);
    for (Index index = 0; index < count; ++index) {
      task(data, index, 0);
      const auto floats = static_cast<Index>(order.output.size()) / order.entries;
      for (Index b = 0; b < order.entries; ++b) {
        const auto begin = order.output.begin() + b * floats;
        const bool is_whole = std::none_of(begin, begin + floats, [](float x) { return x != x; });
        if (is_whole && std::find(order.whole.begin(), order.whole.end(), b) == order.whole.end())
          order.whole.push_back(b);
      }
    }
  }
};

TEST(Threads, take_the_entries_with_most_keys_first) {
  constexpr Index batch = 5, heads = 2, keys = 1200, dim = 8;
  const std::vector<Index> lengths{5, 1200, 40, 300, 300};
  for (const Index queries : {1, 60})
    for (const Paths& paths : {Paths{}, Paths{.shared_panels = false},
                               Paths{.shared_panels = false, .split_tasks = false}}) {
      const auto floats = static_cast<std::size_t>(batch * heads * dim);
      const std::vector<float> query(floats * static_cast<std::size_t>(queries), 1),
          memory(floats * keys, 1);
      std::vector<float> output(query.size(), NAN);
      const Tensor key = contiguous(memory.data(), DType::f32, {batch, heads, keys, dim});
      const auto rows = [&](const std::vector<float>& of) {
        return contiguous(of.data(), DType::f32, {batch, heads, queries, dim});
      };
      InOrder order{output, batch, {}};
      Options options;
      options.threads = 2;
      options.key_lengths = lengths;
      options.parallel_for = {InOrder::run, &order};
      ASSERT_TRUE(attend_on(*usable_tables().front(), rows(query), key, key, {rows(output), {}, {}},
                            options, paths)
                      .ok());
      EXPECT_EQ(order.whole, (std::vector<Index>{1, 3, 4, 2, 0})) << queries;
    }
}

}  // namespace
}  // namespace scaledot::tests
