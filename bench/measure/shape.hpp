// One shape and its options as the benchmarks name them, and the work there is in it.
#pragma once

#include "scaledot/attention.hpp"

namespace scaledot::measure {

struct Shape {
  Index batch = 1;
  Index heads = 8, key_heads = 8;
  Index queries = 2048, keys = 2048;
  Index head_dim = 64, value_dim = 64;
  Causal causal = Causal::off;
  Window window;
  DType dtype = DType::f32;  // of all four tensors
  Arithmetic arithmetic = Arithmetic::automatic;
  int threads = 1;
};

// The keys [begin, end) that a query sees.
struct Seen {
  Index begin = 0, end = 0;
};
Seen seen_by(const Shape& shape, Index query);

// Those that at least one query sees. They are consecutive, as both ends grow with the query.
Seen seen_by_any(const Shape& shape);

// Pairs of a query and a key it sees, over all query heads and batch entries.
double pairs(const Shape& shape);

// Operations of the two products, a multiply-add being two: 2 * pairs * (head_dim + value_dim). So
// it is 4 * batch * heads * queries * keys * head_dim where everything is seen and the dims are
// equal, and (keys + 1) / (2 * keys) of that, a little over one half, for a causal square. Softmax
// counts as nothing.
double flops(const Shape& shape);

// Bytes that have to move at the least: each query and output row once, and once a key head each
// key and value row that some query sees.
double bytes(const Shape& shape);

// The arithmetic that `automatic` stands for.
Arithmetic resolved_arithmetic(const Shape& shape);

Index element_bytes(DType dtype);
const char* name_of(DType dtype);
const char* name_of(Causal causal);
const char* name_of(Arithmetic arithmetic);

}  // namespace scaledot::measure
