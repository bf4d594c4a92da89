// Aligns an English and a French sentence by attention over word vectors, with two divisors of the
// logits, and draws the weights in the terminal and as an SVG file.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <optional>
#include <span>
#include <string>

#include "comparison.hpp"
#include "failure.hpp"
#include "heat_map.hpp"
#include "option_text.hpp"
#include "pending_file.hpp"
#include "text.hpp"
#include "vocabulary.hpp"

namespace scaledot::demo {
namespace {

struct Arguments {
  std::string english = english_example;
  std::string french = french_example;
  std::optional<float> divisor;
  std::string svg = "demo.svg";
  std::string vectors = SCALEDOT_WORD_VECTORS;
};

// A positive number with a reciprocal, which becomes the scale.
float parse_divisor(const std::string& text) {
  const float divisor = cli::parse_number("--divisor", text);
  if (divisor > 0 && std::isnormal(divisor)) return divisor;
  cli::refuse("--divisor is " + cli::in_quotes(text) + ", expected a positive number" +
              (divisor > 0 ? " that is finite and at least 1.2e-38" : ""));
}

void add_options(CLI::App& app, Arguments& arguments) {
  app.add_option("--english", arguments.english, "The keys and values")->capture_default_str();
  app.add_option("--french", arguments.french, "The queries")->capture_default_str();
  app.add_option_function<std::string>(
         "--divisor",
         [&arguments](const std::string& text) { arguments.divisor = parse_divisor(text); },
         "Of the second map, in place of the spread of the dot products")
      ->type_name("X");
  app.add_option("--svg", arguments.svg, "Where the picture goes")->capture_default_str();
  app.add_option("--vectors", arguments.vectors, "The folder with the word vectors")
      ->capture_default_str();
}

Sentence read_sentence(const std::string& text, Language language, const Vocabulary& vocabulary) {
  const char* name = language == Language::english ? "English" : "French";
  Sentence sentence = look_up(words_of(text, language), vocabulary);
  if (sentence.words.empty()) cli::refuse(std::string("the ") + name + " sentence has no words");
  for (const std::string& word : sentence.unknown)
    std::fprintf(stderr, "scaledot_demo: the %s word '%s' is unknown and gets a vector of zeros\n",
                 name, word.c_str());
  return sentence;
}

std::string rounded(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", value);
  return text;
}

HeatMap map_of(const Measured& measured, const std::string& why) {
  const auto keys = static_cast<double>(measured.weights.columns);
  return {"Divisor " + rounded(measured.divisor) + ": " + why,
          {"spread of the logits " + rounded(measured.spread) + " here, " +
               rounded(measured.spread_of_words) + " over all words",
           "entropy of a row " + rounded(measured.entropy) + " of " + rounded(std::log2(keys)) +
               " bits, largest weight " + rounded(100 * measured.largest) + " %"},
          measured.weights};
}

Ink ink_of_stdout() {
  const char* refused = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  const bool dumb = terminal == nullptr || std::string(terminal) == "dumb";
  const bool wanted = refused == nullptr || *refused == '\0';
  return wanted && !dumb && isatty(STDOUT_FILENO) == 1 ? Ink::coloured : Ink::plain;
}

void write_file(const std::string& path, const std::string& text) try {
  cli::PendingFile file(path);
  file.write(std::as_bytes(std::span(text)));
  file.finish();
  file.commit();
} catch (const cli::Failure& failure) {
  throw cli::Failure{failure.code, cli::in_quotes(path) + " " + failure.message};
}

void draw(const Arguments& arguments) {
  const Vocabulary english_words = read_vocabulary(arguments.vectors, "english");
  const Vocabulary french_words = read_vocabulary(arguments.vectors, "french");
  const Sentence english = read_sentence(arguments.english, Language::english, english_words);
  const Sentence french = read_sentence(arguments.french, Language::french, french_words);
  const Comparison comparison =
      compare({french_words, french}, {english_words, english}, arguments.divisor);

  const std::string dim = std::to_string(english_words.vectors.extents[1]);
  const std::vector<HeatMap> maps = {
      map_of(comparison.by_dim, "sqrt(" + dim + "), the rule for components of variance 1"),
      map_of(comparison.by_spread,
             arguments.divisor ? "as asked for" : "the spread of these vectors' dot products")};
  const Labels labels{french.words, english.words};
  std::puts("How much each French word looks at each English word, in percent\n");
  for (const HeatMap& map : maps)
    std::printf("%s\n", terminal_text(map, labels, ink_of_stdout()).c_str());
  write_file(arguments.svg, svg_text(maps, labels));
  std::printf("The same as a picture: %s\n", arguments.svg.c_str());
  if (std::fflush(stdout) != 0) cli::fail_with_errno("cannot write to stdout", errno);
}

int run(int argc, char** argv) {
  CLI::App app("Which English words does each French word look at?", "scaledot_demo");
  Arguments arguments;
  add_options(app, arguments);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help
    cli::refuse(error.what());
  }
  draw(arguments);
  return 0;
}

}  // namespace
}  // namespace scaledot::demo

int main(int argc, char** argv) try {
  return scaledot::demo::run(argc, argv);
} catch (const scaledot::cli::Failure& failure) {
  std::fprintf(stderr, "scaledot_demo: %s\n", failure.message.c_str());
  return static_cast<int>(failure.code);
} catch (const std::bad_alloc&) {
  std::fputs("scaledot_demo: out of memory\n", stderr);
  return 1;
}
