// What hiding keys saves and what masks and biases cost: the time of a call in parts of the time of
// the same call without them, beside the part of the pairs of query and key that is seen. One
// thread, f32; medians of ratios of calls that follow each other.
//
//     masks_bench [LENGTH [DIM]]      2048 and 64 if not given
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "measure/result.hpp"
#include "measure/tensors.hpp"

namespace scaledot::measure {

namespace {

constexpr int repetitions = 15;

struct Case {
  std::string name;
  Options options;
  double seen;  // part of all pairs
};

double seconds_of(Tensors& tensors, const Options& options) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  const Status status = scaledot::attend(tensors.query(), tensors.key(), tensors.value(),
                                         {tensors.output(), {}, {}}, options);
  if (!status.ok()) {
    std::fprintf(stderr, "masks_bench: %s\n", describe(status).c_str());
    std::exit(1);
  }
  return std::chrono::duration<double>(Clock::now() - start).count();
}

void report(Tensors& tensors, const Case& what) {
  Options none;
  none.threads = 1;
  Options some = what.options;
  some.threads = 1;
  std::vector<double> ratios;
  for (int n = 0; n < repetitions; ++n)
    ratios.push_back(seconds_of(tensors, some) / seconds_of(tensors, none));
  const double time = quantile(ratios, 0.5);
  std::printf("%-34s %5.3f %9.3f %9.2f\n", what.name.c_str(), what.seen, time, time / what.seen);
  std::fflush(stdout);
}

// A [length, length] mask or bias.
template <class Element>
struct Marks {
  Index length;
  std::vector<Element> elements;

  Marks(Index size, const std::function<Element(Index, Index)>& of)
      : length(size), elements(static_cast<std::size_t>(size * size)) {
    for (Index i = 0; i < length; ++i)
      for (Index j = 0; j < length; ++j)
        elements[static_cast<std::size_t>(i * length + j)] = of(i, j);
  }
  Tensor tensor(DType dtype) const { return contiguous(elements.data(), dtype, {length, length}); }
};

void run(Index length, Index dim) {
  Shape shape;
  shape.heads = shape.key_heads = 1;
  shape.queries = shape.keys = length;
  shape.head_dim = shape.value_dim = dim;
  Tensors tensors(shape);
  seconds_of(tensors, {});  // warm
  std::printf("length %lld, dim %lld\n%-34s %5s %9s %9s\n", static_cast<long long>(length),
              static_cast<long long>(dim), "", "seen", "time", "time/seen");

  const double all = pairs(shape);
  const auto report_band = [&](const std::string& name, Causal causal, Window window) {
    Shape banded = shape;
    banded.causal = causal;
    banded.window = window;
    report(tensors, {name, options_of(banded), pairs(banded) / all});
  };
  report_band("causal", Causal::top_left, {});
  report_band("window 511, 0", Causal::off, {511, 0});
  report_band("window 256, 255", Causal::off, {256, 255});
  const auto report_mask = [&](const std::string& name, const auto& of) {
    const Marks<std::uint8_t> mask(length, of);
    double seen = 0;
    for (const std::uint8_t shown : mask.elements) seen += shown;
    Case what{"mask: " + name, {}, seen / all};
    what.options.mask = mask.tensor(DType::boolean);
    report(tensors, what);
  };
  for (const Index size : {64, 128, 512})
    report_mask("blocks of " + std::to_string(size), [size](Index i, Index j) {
      return static_cast<std::uint8_t>((i / size + j / size) % 2 == 0);
    });
  report_mask("the first half of the keys",
              [length](Index, Index j) { return static_cast<std::uint8_t>(j < length / 2); });
  report_mask("all keys", [](Index, Index) { return std::uint8_t{1}; });
  report_mask("every second key",
              [](Index i, Index j) { return static_cast<std::uint8_t>((i + j) % 2); });

  Case biased{"f32 bias", {}, 1};
  const Marks<float> bias(length, [](Index i, Index j) { return static_cast<float>((i + j) % 8); });
  biased.options.bias = bias.tensor(DType::f32);
  report(tensors, biased);
  biased.name = "bf16 bias";
  const Marks<std::uint16_t> half(length, [](Index i, Index j) {
    return static_cast<std::uint16_t>(0x3F80 + (i + j) % 8);  // 1 to 1.05
  });
  biased.options.bias = half.tensor(DType::bf16);
  report(tensors, biased);

  Case capped{"softcap", {}, 1};
  capped.options.softcap = 30;
  report(tensors, capped);
}

}  // namespace

}  // namespace scaledot::measure

int main(int count, char** words) {
  const long length = count > 1 ? std::atol(words[1]) : 2048,
             dim = count > 2 ? std::atol(words[2]) : 64;
  if (count > 3 || length < 16 || length > 32768 || dim < 1 || dim > 1024) {
    std::fprintf(stderr,
                 "usage: masks_bench [LENGTH [DIM]], LENGTH 16 to 32768, "
                 "DIM 1 to 1024\n");
    return 1;
  }
  scaledot::measure::run(length, dim);
}
