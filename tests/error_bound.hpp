// How far a result may be from the definition: the bound that docs/numerics.md derives, row by row.
#pragma once

#include <vector>

#include "reference.hpp"

namespace scaledot::tests {

// The definition's row and how far attend() may be from it, before the output's own rounding.
struct BoundedRow {
  Row<double> row;
  std::vector<double> output_bound;   // [value_dim]
  std::vector<double> weights_bound;  // one a key seen
  double lse_bound = 0;
};

// `arithmetic` is f32 or bf16.
BoundedRow bounded_row(const Definition& definition, Arithmetic arithmetic, Index b, Index h,
                       Index i);

// The relative error of a sum over the keys of a row, of positive numbers.
double sum_error(Index seen, Index keys, Arithmetic arithmetic);

// The largest rounding error of storing a number in the type.
double store_error(double number, DType dtype);

}  // namespace scaledot::tests
