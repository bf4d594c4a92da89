// Drawing cases: each axis takes the lengths around which kernels change their way.
#include "cases.hpp"

#include <algorithm>
#include <cstdlib>
#include <initializer_list>
#include <ostream>
#include <sstream>
#include <stdexcept>

#include "random.hpp"

namespace scaledot::tests {
namespace {

// Around 1, 4, 8 and 16 lanes, tiles of 4 to 64 queries, blocks of 128 keys, splits of 1024.
constexpr Index few[] = {1,  2,  3,  4,  5,  7,  8,  9,  13, 15, 16, 17,
                         23, 24, 25, 31, 32, 33, 37, 47, 48, 49, 64, 65};
constexpr Index many[] = {1,   2,   3,   5,   8,   31,  32,  33,   64,   100,  127,
                          128, 129, 255, 257, 300, 500, 769, 1023, 1024, 1025, 2050};
constexpr Index dims[] = {1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 40, 64, 65, 100, 128};

template <class Visit>
void each_field(Case& one, const Visit& visit) {
  visit("seed", one.seed);
  visit("batch", one.batch);
  visit("key_heads", one.key_heads);
  visit("group", one.group);
  visit("queries", one.queries);
  visit("keys", one.keys);
  visit("head_dim", one.head_dim);
  visit("value_dim", one.value_dim);
  visit("query_type", one.query_type);
  visit("key_type", one.key_type);
  visit("value_type", one.value_type);
  visit("output_type", one.output_type);
  visit("arithmetic", one.arithmetic);
  visit("causal", one.causal);
  visit("left", one.left);
  visit("right", one.right);
  visit("scaled", one.scaled);
  visit("scale_eighths", one.scale_eighths);
  visit("softcap", one.softcap);
  visit("key_lengths", one.key_lengths);
  visit("mask", one.mask);
  visit("mask_axes", one.mask_axes);
  visit("bias", one.bias);
  visit("bias_axes", one.bias_axes);
  visit("bias_type", one.bias_type);
  visit("logits", one.logits);
  visit("values", one.values);
  visit("layout", one.layout);
}

// Multiply-adds, for both products.
Index work(const Case& one) {
  return one.batch * one.heads() * one.queries * one.keys * (one.head_dim + one.value_dim);
}

// Makes a case cheap without leaving the lengths above: its heads first, then its shorter axes.
void shorten(Case& one) {
  const Index limit = 1 << 20;
  const auto cut = [&](Index& extent, Index most) {
    if (work(one) > limit) extent = std::min(extent, most);
  };
  cut(one.batch, 1);
  cut(one.key_heads, 1);
  cut(one.group, 2);
  cut(one.head_dim, 33);
  cut(one.value_dim, 17);
  cut(one.queries, 17);
  cut(one.group, 1);
  cut(one.value_dim, 9);
  cut(one.head_dim, 7);
}

void draw_types(Case& one, const Choose& choose) {
  const auto type = [&] { return static_cast<DType>(choose(3)); };
  one.arithmetic = static_cast<Arithmetic>(choose(3));
  if (one.arithmetic == Arithmetic::bf16 || choose(3) == 0) {
    one.query_type = one.key_type = one.value_type =
        one.arithmetic == Arithmetic::bf16 ? DType::bf16 : type();
  } else {
    one.query_type = type();
    one.key_type = type();
    one.value_type = type();
  }
  one.output_type = type();
}

void draw_options(Case& one, const Choose& choose) {
  const auto rarely = [&](Index count) { return choose(4) == 1 ? choose(count) : 0; };
  const Index reach[] = {unlimited, 0, 1, 5, 40, 200};
  one.causal = static_cast<Causal>(choose(3));
  if (choose(3) == 1) {
    one.left = reach[choose(6)];
    one.right = reach[choose(6)];
  }
  const Index scales[] = {8, 1, 2, 12, 0, -3};
  one.scaled = choose(3) == 1;
  if (one.scaled) one.scale_eighths = scales[choose(6)];
  const Index caps[] = {0, 1, 5, 30};
  one.softcap = caps[rarely(4)];
  one.key_lengths = choose(5) == 1;
  one.mask = static_cast<Masks>(rarely(5));
  one.bias = static_cast<Biases>(rarely(5));
  if (one.mask != Masks::none) one.mask_axes = choose(32);
  if (one.bias != Biases::none) {
    one.bias_axes = choose(32);
    one.bias_type = static_cast<DType>(choose(3));
  }
}

}  // namespace

bool Case::bf16() const {
  const bool all =
      query_type == DType::bf16 && key_type == DType::bf16 && value_type == DType::bf16;
  return arithmetic == Arithmetic::bf16 || (arithmetic == Arithmetic::automatic && all);
}

bool Case::tame() const { return logits < Logits::wild && values != Values::infinite; }

Case drawn(const Choose& choose) {
  const auto extent = [&](auto& list) {
    if (choose(40) == 39) return Index{0};
    return list[choose(static_cast<Index>(std::size(list)))];
  };
  Case one;
  one.seed = 1 + choose(1 << 20);
  one.batch = 1 + choose(3);
  one.key_heads = 1 + choose(3);
  one.group = 1 + choose(4);
  one.queries = extent(few);
  one.keys = extent(many);
  one.head_dim = extent(dims);
  one.value_dim = extent(dims);
  one.logits = static_cast<Logits>(choose(2) == 0 ? 0 : choose(10));
  one.values = static_cast<Values>(choose(2) == 0 ? 0 : choose(5));
  one.layout = layouts[choose(std::size(layouts))];
  draw_types(one, choose);
  draw_options(one, choose);
  shorten(one);
  return one;
}

std::vector<Case> cases(Index count, Index seed, const std::function<bool(const Case&)>& accept) {
  Random random{static_cast<std::uint64_t>(seed)};
  std::vector<Case> all;
  while (static_cast<Index>(all.size()) < count) {
    const Case one = drawn([&](Index possibilities) { return random.below(possibilities); });
    if (!accept || accept(one)) all.push_back(one);
  }
  return all;
}

std::vector<Case> cases_or_replayed(Index count, Index seed,
                                    const std::function<bool(const Case&)>& accept) {
  const char* line = std::getenv("SCALEDOT_TEST_CASE");
  return line != nullptr ? std::vector<Case>{case_of(line)} : cases(effort(count), seed, accept);
}

std::string line_of(const Case& one) {
  std::vector<Index> usual;
  Case standard, copy = one;
  each_field(standard,
             [&](const char*, auto& field) { usual.push_back(static_cast<Index>(field)); });
  std::string line;
  std::size_t n = 0;
  each_field(copy, [&](const char* name, auto& field) {
    const auto number = static_cast<Index>(field);
    if (number != usual[n++])
      line += (line.empty() ? "" : " ") + std::string(name) + "=" + std::to_string(number);
  });
  return line;
}

Case case_of(const std::string& line) {
  Case one;
  std::istringstream words(line);
  for (std::string word; words >> word;) {
    const std::size_t equals = word.find('=');
    bool known = false;
    each_field(one, [&](const char* name, auto& field) {
      if (word.substr(0, equals) != name) return;
      field = static_cast<std::remove_reference_t<decltype(field)>>(
          std::stoll(word.substr(equals + 1)));
      known = true;
    });
    if (!known) throw std::runtime_error("no field of a case: " + word);
  }
  return one;
}

std::ostream& operator<<(std::ostream& stream, const Case& one) {
  return stream << "SCALEDOT_TEST_CASE='" << line_of(one) << "'";
}

Index effort(Index count) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(__aarch64__)
  constexpr bool slow = true;
#elif !defined(__has_feature)
  constexpr bool slow = false;
#elif __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
  constexpr bool slow = true;
#else
  constexpr bool slow = false;
#endif
  return slow ? (count + 7) / 8 : count;
}

}  // namespace scaledot::tests
