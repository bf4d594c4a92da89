// Which keys a query sees by position alone: causal, window and key length make one interval.
#pragma once

#include "view.hpp"

namespace scaledot {

// Query i sees the keys j in [0, keys) with i + diagonal - left <= j <= i + diagonal + right. Both
// ends of the interval grow with i. left and right are at most some 2^62, so that no sum overflows.
struct Band {
  Index keys = 0;
  Index diagonal = 0;
  Index left = 0, right = 0;

  constexpr Range of(Index i) const {
    const Index center = i + diagonal;
    return {smaller(larger(center - left, 0), keys), smaller(larger(center + right + 1, 0), keys)};
  }

  // Seen by at least one of the queries (which are one or more), and seen by every one of them.
  constexpr Range any(Range queries) const {
    return {of(queries.begin).begin, of(queries.end - 1).end};
  }
  constexpr Range all(Range queries) const {
    return {of(queries.end - 1).begin, of(queries.begin).end};
  }
};

}  // namespace scaledot
