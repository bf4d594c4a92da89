// What the demo shows with the committed word vectors.
#include "alignment.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "comparison.hpp"
#include "failure.hpp"
#include "text.hpp"
#include "vocabulary.hpp"

namespace scaledot::demo {
namespace {

const Vocabulary& english_words() {
  static const Vocabulary words = read_vocabulary(SCALEDOT_WORD_VECTORS, "english");
  return words;
}

const Vocabulary& french_words() {
  static const Vocabulary words = read_vocabulary(SCALEDOT_WORD_VECTORS, "french");
  return words;
}

struct Example {
  Sentence english = look_up(words_of(english_example, Language::english), english_words());
  Sentence french = look_up(words_of(french_example, Language::french), french_words());
  Comparison comparison =
      compare({french_words(), french}, {english_words(), english}, std::nullopt);
};

std::size_t largest_of_row(const Matrix& matrix, std::size_t i) {
  const auto row = matrix.elements.begin() + static_cast<std::ptrdiff_t>(i * matrix.columns);
  const auto end = row + static_cast<std::ptrdiff_t>(matrix.columns);
  return static_cast<std::size_t>(std::max_element(row, end) - row);
}

TEST(WordVectors, HaveUnitLength) {
  for (const Vocabulary* words : {&english_words(), &french_words()}) {
    EXPECT_EQ(words->words.size(), 2000u);
    EXPECT_EQ(words->row_of.size(), words->words.size()) << "a word is there twice";
    EXPECT_EQ(words->vectors.extents[1], 300);
    const Matrix products = dot_products(words->vectors, words->vectors);
    for (std::size_t i = 0; i < products.rows; ++i)  // f16 rounds each component by 2^-11 at most
      EXPECT_NEAR(products(i, i), 1, 1e-3) << words->words[i];
  }
}

TEST(WordVectors, NeedAWordForEveryRow) {
  const std::string start = testing::TempDir() + "demo_one_word";
  std::ofstream(start + ".txt") << "one\n";
  std::filesystem::copy_file(SCALEDOT_WORD_VECTORS "/english.npy", start + ".npy",
                             std::filesystem::copy_options::overwrite_existing);
  EXPECT_THROW(read_vocabulary(testing::TempDir(), "demo_one_word"), cli::Failure);
}

TEST(WordVectors, PutTranslationsNearEachOther) {
  const Matrix products = dot_products(french_words().vectors, english_words().vectors);
  std::ifstream file(WORD_TRANSLATIONS_FILE);
  int asked = 0, right = 0;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string french;
    words >> french;
    const auto row = french_words().row_of.find(french);
    if (row == french_words().row_of.end()) continue;
    const std::size_t nearest = largest_of_row(products, static_cast<std::size_t>(row->second));
    ++asked;
    for (std::string translation; words >> translation;)
      right += translation == english_words().words[nearest];
  }
  EXPECT_GE(asked, 100);
  EXPECT_GE(right, asked * 95 / 100);
}

TEST(Comparison, ExampleIsCovered) {
  const Example example;
  EXPECT_EQ(example.english.unknown, std::vector<std::string>{});
  EXPECT_EQ(example.french.unknown, std::vector<std::string>{});
}

TEST(Comparison, RootOfDimGivesNearlyUniformRows) {
  const Example example;
  const Measured& measured = example.comparison.by_dim;
  EXPECT_FLOAT_EQ(measured.divisor, std::sqrt(300.0f));
  const float uniform = 1 / static_cast<float>(measured.weights.columns);
  for (const float weight : measured.weights.elements) {
    EXPECT_LT(weight, 1.1f * uniform);
    EXPECT_GT(weight, 0.9f * uniform);
  }
  EXPECT_LT(measured.largest, 1.1f * uniform);
  EXPECT_GT(measured.entropy, 0.999 * -std::log2(uniform));
}

TEST(Comparison, SpreadGivesTheTranslation) {
  const Example example;
  const Measured& measured = example.comparison.by_spread;
  EXPECT_NEAR(measured.divisor, 1 / std::sqrt(300.0), 0.01);
  EXPECT_NEAR(measured.spread_of_words, 1, 1e-4);
  EXPECT_LT(measured.entropy, 0.3);
  // All but "pas" and "de", which have no English word of their own here.
  const std::map<std::string, std::string> translations = {
      {"il", "it"},      {"ne", "cannot"},    {"peut", "cannot"},    {"ouvrir", "open"},
      {"le", "the"},     {"fichier", "file"}, {"distant", "remote"}, {"car", "because"},
      {"votre", "your"}, {"mot", "password"}, {"passe", "password"}, {"est", "is"},
      {"trop", "too"},   {"court", "short"}};
  std::size_t found = 0;
  for (std::size_t i = 0; i < example.french.words.size(); ++i) {
    const auto expected = translations.find(example.french.words[i]);
    if (expected == translations.end()) continue;
    ++found;
    const std::size_t j = largest_of_row(measured.weights, i);
    EXPECT_EQ(example.english.words[j], expected->second) << expected->first;
    EXPECT_GT(measured.weights(i, j), 0.95f) << expected->first;
  }
  EXPECT_EQ(found, translations.size());
}

TEST(Comparison, TakesTheDivisorAskedFor) {
  const Example example;
  const Comparison other =
      compare({french_words(), example.french}, {english_words(), example.english}, 0.1f);
  EXPECT_FLOAT_EQ(other.by_spread.divisor, 0.1f);
  EXPECT_EQ(other.by_spread.weights.elements,
            weights(example.french.vectors, example.english.vectors, 0.1f).elements);
}

TEST(Sentence, UnknownWordsAreNamedAndGetZeros) {
  const Sentence french = look_up({"zorglub", "fichier", "zorglub"}, french_words());
  EXPECT_EQ(french.unknown, std::vector<std::string>{"zorglub"});
  const Sentence english = look_up({"file", "open", "password"}, english_words());
  const Matrix products = dot_products(french.vectors, english.vectors);
  for (std::size_t j = 0; j < products.columns; ++j) {
    EXPECT_NEAR(products(0, j), 0, 1e-6);
    EXPECT_NEAR(products(2, j), 0, 1e-6);
  }
  EXPECT_GT(products(1, 0), 0.9f);
}

TEST(Measures, FollowTheirDefinitions) {
  EXPECT_DOUBLE_EQ(spread({2, 2, {1, 3, 10, 16}}), std::sqrt(5.0));  // within rows 1 and 3
  EXPECT_DOUBLE_EQ(entropy({1, 4, {0.25f, 0.25f, 0.25f, 0.25f}}), 2);
  EXPECT_DOUBLE_EQ(entropy({2, 2, {1, 0, 0.5f, 0.5f}}), 0.5);
}

}  // namespace
}  // namespace scaledot::demo
