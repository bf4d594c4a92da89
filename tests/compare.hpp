// Comparing tensors bit by bit and number by number, with messages that say where they part.
#pragma once

#include <string>
#include <vector>

#include "inputs.hpp"

namespace scaledot::tests {

// The size below which flushed denormals may show (docs/numerics.md): 2^-100 times the keys, times
// the largest finite value if that is above 1.
double flushed_below(const Arguments& arguments);

// Where two tensors of equal type differ first, in words; empty if they are the same. Elements that
// are both smaller than `ignored_below` are not compared.
std::string difference(const Tensor& got, const Tensor& expected, double ignored_below = 0);

// Fails the running test if an output, lse or weight differs in its bits.
void expect_same(const Outcome& got, const Outcome& expected, double ignored_below);

// The distance from |number| to the next larger number of the type.
double ulp(double number, DType dtype);

// Whether both are NaN, or the distance is at most `allowed`.
bool is_near(double got, double expected, double allowed);

}  // namespace scaledot::tests
