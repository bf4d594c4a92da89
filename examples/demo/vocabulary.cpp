#include "vocabulary.hpp"

#include <algorithm>
#include <fstream>
#include <span>
#include <utility>

#include "failure.hpp"
#include "input_file.hpp"
#include "npy.hpp"

namespace scaledot::demo {
namespace {

std::vector<std::string> read_lines(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  if (!file.eof()) cli::refuse(cli::in_quotes(path) + " cannot be read");
  return lines;
}

cli::Array read_array(const std::string& path) try {
  return cli::read_npy(cli::InputFile(path));
} catch (const cli::Failure& failure) {
  throw cli::Failure{failure.code, cli::in_quotes(path) + " " + failure.message};
}

std::span<std::byte> row(cli::Array& array, Index index) {
  const std::size_t bytes =
      cli::bytes_of(array.element) * static_cast<std::size_t>(array.extents[1]);
  return array.data.bytes().subspan(static_cast<std::size_t>(index) * bytes, bytes);
}

std::span<const std::byte> row(const cli::Array& array, Index index) {
  return row(const_cast<cli::Array&>(array), index);
}

}  // namespace

Vocabulary read_vocabulary(const std::string& folder, const std::string& name) {
  const std::string start = folder + "/" + name;
  Vocabulary vocabulary{read_lines(start + ".txt"), {}, read_array(start + ".npy")};
  const auto words = static_cast<Index>(vocabulary.words.size());
  const cli::Array& vectors = vocabulary.vectors;
  if (vectors.extents.size() != 2 || vectors.extents[0] != words ||
      vectors.order != cli::Order::c || !cli::dtype_of(vectors.element))
    cli::refuse(cli::in_quotes(start + ".npy") + " is not an array of " + std::to_string(words) +
                " rows in C order, one for each line of " + cli::in_quotes(start + ".txt"));
  for (Index i = 0; i < words; ++i)
    vocabulary.row_of.emplace(vocabulary.words[static_cast<std::size_t>(i)], i);
  return vocabulary;
}

Sentence look_up(std::vector<std::string> words, const Vocabulary& vocabulary) {
  const auto count = static_cast<Index>(words.size());
  Sentence sentence{std::move(words),
                    {},
                    cli::zeros(vocabulary.vectors.element, {count, vocabulary.vectors.extents[1]})};
  for (Index i = 0; i < count; ++i) {
    const std::string& word = sentence.words[static_cast<std::size_t>(i)];
    const auto found = vocabulary.row_of.find(word);
    if (found != vocabulary.row_of.end())
      std::ranges::copy(row(vocabulary.vectors, found->second), row(sentence.vectors, i).begin());
    else if (std::ranges::find(sentence.unknown, word) == sentence.unknown.end())
      sentence.unknown.push_back(word);
  }
  return sentence;
}

}  // namespace scaledot::demo
