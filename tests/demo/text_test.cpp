#include "text.hpp"

#include <gtest/gtest.h>

namespace scaledot::demo {
namespace {

using Words = std::vector<std::string>;

TEST(Text, EnglishKeepsAnApostropheInsideAWord) {
  EXPECT_EQ(words_of("Don't open 'that' file!", Language::english),
            (Words{"don't", "open", "that", "file"}));
}

TEST(Text, FrenchEndsAWordAfterAnApostrophe) {
  EXPECT_EQ(words_of("L'utilisateur n\u2019a 'rien' lu.", Language::french),
            (Words{"l'", "utilisateur", "n'", "a", "rien", "lu"}));
}

TEST(Text, CapitalsWithAccentsBecomeSmall) {
  EXPECT_EQ(words_of("\u00c9T\u00c9 \u00c0 \u0152UVRE \u0178", Language::french),
            (Words{"\u00e9t\u00e9", "\u00e0", "\u0153uvre", "\u00ff"}));
}

TEST(Text, PunctuationOfAnyKindSeparates) {
  EXPECT_EQ(words_of("\u00abmot\u00bb\u00a0: un\u2014deux\u2026 3\u00d74", Language::french),
            (Words{"mot", "un", "deux", "3", "4"}));
  EXPECT_EQ(words_of(" .,'' ", Language::english), Words{});
  EXPECT_EQ(words_of("", Language::french), Words{});
}

// Any other byte could end up in the terminal and in the picture.
TEST(Text, WhatIsNotUtf8IsReplaced) {
  const char* broken[] = {"a\xff",         "a\xc3",         "a\xc0\xaf",
                          "a\xed\xa0\x80", "a\xef\xbf\xbe", "a\xf4\x90\x80\x80"};
  for (const char* text : broken) {
    const Words words = words_of(text, Language::english);
    ASSERT_EQ(words.size(), 1u);
    EXPECT_EQ(words[0].substr(0, 4), "a\ufffd");
    for (std::size_t i = 1; i < words[0].size(); i += 3) EXPECT_EQ(words[0].substr(i, 3), "\ufffd");
  }
  EXPECT_EQ(words_of("a\U0001d504", Language::english), Words{"a\U0001d504"});
}

TEST(Text, LengthCountsCharacters) {
  EXPECT_EQ(length_of(""), 0);
  EXPECT_EQ(length_of("\u00eatre"), 4);
}

}  // namespace
}  // namespace scaledot::demo
