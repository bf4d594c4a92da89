// The same attention with two divisors of the logits, and what each does to the weights.
#pragma once

#include <optional>

#include "alignment.hpp"
#include "vocabulary.hpp"

namespace scaledot::demo {

// A sentence and its translation that the committed vocabularies cover.
inline constexpr const char* english_example =
    "It cannot open the remote file because your password is too short.";
inline constexpr const char* french_example =
    "Il ne peut pas ouvrir le fichier distant car votre mot de passe est trop court.";

struct Measured {
  float divisor;
  Matrix weights;          // [French words, English words]
  double spread;           // of the sentence's logits
  double spread_of_words;  // of the logits of all words of the two vocabularies
  double entropy;          // of a row, in bits
  float largest;           // weight
};

// A sentence with the words of its language.
struct Text {
  const Vocabulary& vocabulary;
  const Sentence& sentence;
};

// sqrt(dim) brings dot products to spread 1 if every component of the vectors has variance 1. The
// components of unit vectors have variance 1 / dim; so the divisor that suits any vectors is the
// spread of their dot products itself, about 1 / sqrt(dim) here. All words of both vocabularies are
// taken for it and not those of the sentence, whose translations are near each other on purpose.
struct Comparison {
  Measured by_dim;
  Measured by_spread;  // or by the divisor asked for
};

Comparison compare(const Text& french, const Text& english, std::optional<float> asked_for);

}  // namespace scaledot::demo
