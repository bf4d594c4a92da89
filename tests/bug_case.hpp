// One call from a list of bugs seen in attention kernels, and every way in which it is made.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "attention.hpp"
#include "numbers.hpp"

namespace scaledot::tests {

struct Call {
  Numbers query, key, value;
  Options options;  // but for the tensors and lengths, which are these:
  std::optional<Numbers> mask, bias;
  std::optional<std::vector<Index>> key_lengths;
};

// A call with queries and keys of 0: all keys that a row sees weigh the same.
Call mean_call(const Extents& query, const Extents& key, const Numbers& value);

struct Way {
  const kernels::KernelTable* table = nullptr;
  DType dtype = DType::f32;  // of query, key, value and output, and of bias if that is exact
  Arithmetic arithmetic = Arithmetic::f32;
  Paths paths;
  int threads = 1;
  bool weights = false;  // asked for

  std::string name() const;
  bool is_plain() const {
    return paths.certified && paths.shared_panels && paths.split_tasks && threads == 1 && !weights;
  }
};

// Every usable table, every type in which query, key and value are exact, every path, 1 thread and
// 2, with weights and without.
std::vector<Way> ways(const Call& call);

struct Results {
  Status status;
  std::vector<float> output, lse, weights;
};

Results made(const Call& call, const Way& way);

// Makes the call in each way, expects that it succeeds, that its bits depend on types and
// arithmetic alone, and that `check` is content.
void each_way(const Call& call, const std::function<void(const Way&, const Results&)>& check);

// How far an output may be from `number`, which is given to six digits: that, plain f32, and the
// rounding of the output's type and, in bf16 arithmetic, of the weights.
double tolerance(const Call& call, const Way& way, double number);

// The output, or the part of it from `first` on, is `numbers`, rounded to the output's type ...
void expect_exactly(const Call& call, const std::vector<double>& numbers, std::size_t first = 0);
// ... or within tolerance() of them.
void expect_output(const Call& call, const std::vector<double>& numbers, std::size_t first = 0);
void expect_lse(const Call& call, const std::vector<double>& numbers);
// Both calls have the same output and lse, bit for bit, in each way of the first.
void expect_same_bits(const Call& call, const Call& other);

}  // namespace scaledot::tests
