// The words of one language and their vectors, and sentences looked up in them.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "array.hpp"
#include "scaledot/attention.hpp"

namespace scaledot::demo {

struct Vocabulary {
  std::vector<std::string> words;
  std::unordered_map<std::string, Index> row_of;
  cli::Array vectors;  // [words, dim]
};

// Reads NAME.txt, a word a line, and NAME.npy, a row a word. Throws cli::Failure.
Vocabulary read_vocabulary(const std::string& folder, const std::string& name);

struct Sentence {
  std::vector<std::string> words;
  std::vector<std::string> unknown;  // those without a vector, each once
  cli::Array vectors;                // [words, dim]; zeros for an unknown word
};

Sentence look_up(std::vector<std::string> words, const Vocabulary& vocabulary);

}  // namespace scaledot::demo
