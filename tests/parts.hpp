// Parts of a call that are calls themselves: one batch entry, one key head, some of the queries.
#pragma once

#include "inputs.hpp"

namespace scaledot::tests {

// Entry b and key head g with its group of query heads. `arguments` must have rank 4. The key
// lengths of the part are a span of those of the whole.
Arguments entry_of(const Arguments& arguments, Index b);
Arguments key_head_of(const Arguments& arguments, Index g);

// Queries [begin, end) against keys [0, keys), options as they are.
Arguments rows_of(const Arguments& arguments, Index begin, Index end, Index keys);

// Query i of a call with one batch entry, alone, against the keys from 0 to the last that it sees:
// the same keys, so causal, window and key lengths are written anew.
Arguments query_alone(const Arguments& arguments, Index i, Index keys_seen);

// The same part of the results: elements [begin, end) of `axis` of the output (of rank 4), and the
// first `keys` of the weights.
Outcome part_of(const Outcome& whole, int axis, Index begin, Index end, Index keys);

}  // namespace scaledot::tests
