// Which word looks at which: attention of French words to English ones, and its measures.
#pragma once

#include <vector>

#include "array.hpp"

namespace scaledot::demo {

struct Matrix {
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::vector<float> elements;  // [rows, columns]

  float operator()(std::size_t i, std::size_t j) const { return elements[i * columns + j]; }
};

// The weights of every query on every key, softmax(query . key / divisor): [queries, keys].
// Throws cli::Failure with the library's message if it takes no such arguments.
Matrix weights(const cli::Array& query, const cli::Array& key, float divisor);

// query . key for every pair: [queries, keys].
Matrix dot_products(const cli::Array& query, const cli::Array& key);

// The standard deviation within a row, over all rows (root mean square). What a whole row has in
// common is left out, as softmax does not see it.
double spread(const Matrix& logits);

// How many bits a row of weights has on average: log2(keys) if uniform, 0 if on one key alone.
double entropy(const Matrix& weights);

}  // namespace scaledot::demo
