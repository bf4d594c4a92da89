// Words of a sentence in UTF-8, cut as tools/make_word_vectors.py cuts messages.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace scaledot::demo {

enum class Language { english, french };

// The words in small letters, without punctuation. An English apostrophe stays inside its word
// ("don't"); a French one ends it ("l'" and "utilisateur").
std::vector<std::string> words_of(std::string_view sentence, Language language);

// How many characters a text has.
int length_of(std::string_view text);

}  // namespace scaledot::demo
