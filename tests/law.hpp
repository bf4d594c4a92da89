// Checks a law of attention over drawn cases on every usable table, by RapidCheck where there is
// one.
#pragma once

#include <functional>
#include <sstream>
#include <string>

#include "inputs.hpp"

namespace scaledot::tests {

// What is wrong with one case on one table; nothing if the law holds.
using Law = std::function<std::string(const Case&, const kernels::KernelTable*)>;

// Draws cases, changes each by `adapt` into one that the law speaks of, and fails the running test
// with the smallest case that breaks it. SCALEDOT_TEST_CASE replays a case.
void holds(const Law& law, const std::function<void(Case&)>& adapt);

// Ways to adapt a case: no infinities and NaN; also of moderate size, with an output of f32; also
// without options by position, whose meaning would change with the keys.
void finite(Case& one);
void tame(Case& one);
void all_keys(Case& one);

Arithmetic arithmetic_of(const Case& one);
How usual(const Case& one, const kernels::KernelTable* table);

// Calls visit(number, b, h, i) for each row in C order until one has something to say.
std::string each_row(const Case& one,
                     const std::function<std::string(std::size_t, Index, Index, Index)>& visit);

template <class... Words>
std::string words(const Words&... all) {
  std::ostringstream stream;
  stream.precision(9);
  (stream << ... << all);
  return stream.str();
}

}  // namespace scaledot::tests
