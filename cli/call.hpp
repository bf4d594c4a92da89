// A call of attend() with everything it takes, and the same call in pieces.
#pragma once

#include <functional>
#include <vector>

#include "scaledot/attention.hpp"

namespace scaledot::cli {

struct Call {
  Tensor query, key, value;
  Outputs outputs;
  Options options;
};

// Whether attend() would take the call, without memory for its scratch.
Status check(const Call& call);

// A valid call cut by batch entries and key heads, in pieces of at least that many operations if
// possible. Together they give the bits of the whole, since no row depends on another.
std::vector<Call> pieces_of(const Call& call, double least_operations);

// Attends piece by piece, and says after each which part of the pieces is done.
Status attend(const std::vector<Call>& pieces, const std::function<void(double)>& advance);

}  // namespace scaledot::cli
