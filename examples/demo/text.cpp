#include "text.hpp"

#include <algorithm>

namespace scaledot::demo {
namespace {

constexpr char32_t replacement = 0xFFFD;  // for what is not UTF-8

// Takes the first character off `rest`, which is not empty.
char32_t take_character(std::string_view& rest) {
  const auto lead = static_cast<unsigned char>(rest.front());
  rest.remove_prefix(1);
  if (lead < 0x80) return lead;
  const std::size_t more = lead >> 5 == 6 ? 1 : lead >> 4 == 14 ? 2 : lead >> 3 == 30 ? 3 : 0;
  if (more == 0 || rest.size() < more) return replacement;
  char32_t character = lead & (0x3Fu >> more);
  for (std::size_t i = 0; i < more; ++i) {
    const auto byte = static_cast<unsigned char>(rest[i]);
    if (byte >> 6 != 2) return replacement;
    character = character << 6 | (byte & 0x3Fu);
  }
  constexpr char32_t smallest[] = {0, 0x80, 0x800, 0x10000};
  if (character < smallest[more]) return replacement;
  rest.remove_prefix(more);
  // XML may contain no surrogate, no U+FFFE or U+FFFF, and nothing beyond Unicode.
  const bool surrogate = character >= 0xD800 && character <= 0xDFFF;
  return surrogate || character >> 1 == 0x7FFF || character > 0x10FFFF ? replacement : character;
}

void append(std::string& text, char32_t character) {
  const auto byte = [&](char32_t bits) { text += static_cast<char>(bits); };
  if (character < 0x80) return byte(character);
  if (character < 0x800) {
    byte(0xC0 | character >> 6);
  } else if (character < 0x10000) {
    byte(0xE0 | character >> 12);
    byte(0x80 | (character >> 6 & 0x3F));
  } else {
    byte(0xF0 | character >> 18);
    byte(0x80 | (character >> 12 & 0x3F));
    byte(0x80 | (character >> 6 & 0x3F));
  }
  byte(0x80 | (character & 0x3F));
}

// In small letters as far as English and French have them, with the typewriter's apostrophe.
char32_t plain(char32_t character) {
  const bool latin = character >= 0xC0 && character <= 0xDE && character != 0xD7;
  if ((character >= 'A' && character <= 'Z') || latin) return character + 0x20;
  if (character == 0x152) return 0x153;  // oe
  if (character == 0x178) return 0xFF;   // y with two dots
  return character == 0x2019 ? '\'' : character;
}

// Digits and foreign letters make words too, which will be unknown ones.
bool is_letter(char32_t character) {
  if (character < 0x80)
    return (character >= 'a' && character <= 'z') || (character >= '0' && character <= '9');
  const bool sign = character == 0xD7 || character == 0xF7;  // times, divided by
  const bool punctuation = character >= 0x2000 && character <= 0x206F;
  return character >= 0xC0 && !sign && !punctuation;
}

}  // namespace

std::vector<std::string> words_of(std::string_view sentence, Language language) {
  std::u32string characters;
  while (!sentence.empty()) characters += plain(take_character(sentence));
  characters += ' ';  // ends the last word

  std::vector<std::string> words;
  std::string word;
  const auto end_word = [&] {
    if (!word.empty()) words.push_back(std::move(word));
    word.clear();
  };
  for (std::size_t i = 0; i + 1 < characters.size(); ++i) {
    const bool inside = !word.empty() && is_letter(characters[i + 1]);
    if (is_letter(characters[i])) {
      append(word, characters[i]);
    } else if (characters[i] == '\'' && inside) {
      word += '\'';
      if (language == Language::french) end_word();
    } else {
      end_word();
    }
  }
  end_word();
  return words;
}

int length_of(std::string_view text) {
  return static_cast<int>(std::count_if(
      text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) >> 6 != 2; }));
}

}  // namespace scaledot::demo
