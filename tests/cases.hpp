// One call of attend(), described by small numbers: drawn at random, printed and read as one line.
#pragma once

#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

#include "tensors.hpp"

namespace scaledot::tests {

// What the logits (and the keys that make them) look like along a row.
enum class Logits : std::uint8_t {
  normal,
  flat,       // all 0
  all_equal,  // every key the same
  one_huge,   // one key 80 above the others
  ascending,  // by 1/4 a key
  descending,
  spread,    // of standard deviation 36
  wild,      // elements of any size from 2^-30 to 2^30 (f16: 2^-8 to 2^8)
  infinite,  // some keys and queries hold an infinity
  nan,       // some keys and queries hold a NaN
};

enum class Values : std::uint8_t {
  normal,
  constant,    // the same number everywhere
  cancelling,  // a large number and its negative in turn, plus small ones
  zero,
  infinite,  // some infinities and NaN
};

enum class Masks : std::uint8_t { none, half, few, nothing, blocks };
enum class Biases : std::uint8_t { none, normal, hiding, slope, lowest };

struct Case {
  Index seed = 1;
  Index batch = 1, key_heads = 1, group = 1, queries = 1, keys = 1, head_dim = 8, value_dim = 8;
  DType query_type = DType::f32, key_type = DType::f32, value_type = DType::f32;
  DType output_type = DType::f32;
  Arithmetic arithmetic = Arithmetic::automatic;
  Causal causal = Causal::off;
  Index left = unlimited, right = unlimited;  // the window
  bool scaled = false;                        // else the default scale
  Index scale_eighths = 0;
  Index softcap = 0;
  bool key_lengths = false;
  Masks mask = Masks::none;
  Index mask_axes = 0;  // bit n: axis n has length 1; bit 4: such axes in front are left away
  Biases bias = Biases::none;
  Index bias_axes = 0;
  DType bias_type = DType::f32;
  Logits logits = Logits::normal;
  Values values = Values::normal;
  Layout layout = Layout::contiguous;  // of all inputs

  Index heads() const { return key_heads * group; }
  bool bf16() const;  // whether it is computed in bf16 arithmetic
  // Whether its logits, or what it holds at all, are finite and of moderate size.
  bool tame() const;
};

// Chooses one of `count` possibilities; the first are the simplest.
using Choose = std::function<Index(Index count)>;
Case drawn(const Choose& choose);

// `count` cases, the same on every machine, those that `accept` likes.
std::vector<Case> cases(Index count, Index seed,
                        const std::function<bool(const Case&)>& accept = {});
// The same, or the one that the environment's SCALEDOT_TEST_CASE holds.
std::vector<Case> cases_or_replayed(Index count, Index seed,
                                    const std::function<bool(const Case&)>& accept = {});

// One line: each field that is not at its default, as name=number.
std::string line_of(const Case& one);
Case case_of(const std::string& line);
std::ostream& operator<<(std::ostream& stream, const Case& one);

// A count of cases made smaller where everything is slow: under sanitizers and on emulators.
Index effort(Index count);

}  // namespace scaledot::tests
