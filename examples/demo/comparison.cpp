#include "comparison.hpp"

#include <algorithm>
#include <cmath>

namespace scaledot::demo {

Comparison compare(const Text& french, const Text& english, std::optional<float> asked_for) {
  const cli::Array& query = french.sentence.vectors;
  const cli::Array& key = english.sentence.vectors;
  const double here = spread(dot_products(query, key));
  const double all = spread(dot_products(french.vocabulary.vectors, english.vocabulary.vectors));
  const auto measured = [&](float divisor) {
    Matrix found = weights(query, key, divisor);
    const double bits = entropy(found);
    const float largest = std::ranges::max(found.elements);
    return Measured{divisor, std::move(found), here / divisor, all / divisor, bits, largest};
  };
  const auto dim = static_cast<float>(english.vocabulary.vectors.extents[1]);
  return {measured(std::sqrt(dim)), measured(asked_for.value_or(static_cast<float>(all)))};
}

}  // namespace scaledot::demo
