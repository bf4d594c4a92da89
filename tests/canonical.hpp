// A row computed key after key in the order of arithmetic of docs/numerics.md: no tiles, no blocks,
// no vectors. attend() must have these bits on every path.
#pragma once

#include <cmath>
#include <vector>

#include "reference.hpp"

namespace scaledot::tests {

// A sum of products. f32: one chain. bf16, which is tile order: of each 32 products one chain over
// the even and one over the odd ones, both added to the total at the end of the 32.
struct Chain {
  bool bf16 = false;
  float total = 0;
  float part[2] = {0, 0};

  // `place` counts products from the first one on, hidden ones included.
  void add(Index place, float a, float b) {
    float& sum = bf16 ? part[place % 2] : total;
    sum = std::fma(a, b, sum);
  }
  void end_chunk() {
    if (bf16) total = total + (part[0] + part[1]);
    part[0] = part[1] = 0;
  }
};

struct CanonicalRow {
  std::vector<float> output;   // before it is rounded to the output's type
  std::vector<float> weights;  // one a key; 0 if it is hidden
  float lse = 0;
};

CanonicalRow canonical_row(const Definition& definition, bool bf16, Index b, Index h, Index i);

}  // namespace scaledot::tests
