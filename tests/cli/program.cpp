#include "program.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bit>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <random>
#include <utility>

#include "tensor_file.hpp"

namespace scaledot::cli::tests {

namespace {

void redirect(const std::string& file, int descriptor) {
  const int opened = ::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (opened < 0 || ::dup2(opened, descriptor) < 0) ::_exit(126);
}

[[noreturn]] void become_program(const Folder& folder, const Run& run, const Folder& caught) {
  redirect(run.stdout_file.empty() ? caught.path("out") : run.stdout_file, STDOUT_FILENO);
  redirect(caught.path("err"), STDERR_FILENO);
  if (::chdir(folder.path("").c_str()) != 0) ::_exit(126);
  if (run.largest_file) {
    const rlimit limit{*run.largest_file, *run.largest_file};
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) ::_exit(126);
  }
  for (const std::string& variable : run.environment) ::putenv(const_cast<char*>(variable.c_str()));
  std::vector<char*> words{const_cast<char*>("scaledot")};
  for (const std::string& word : run.arguments) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  ::execv(SCALEDOT_PROGRAM, words.data());
  ::_exit(127);
}

// The last `rank` axes.
std::vector<Index> last(std::size_t rank, std::vector<Index> extents) {
  return {extents.end() - static_cast<std::ptrdiff_t>(rank), extents.end()};
}

// Normal numbers of f16 have other bits for their exponent than f32's first half.
std::uint16_t f16_near(float number) {
  const auto bits = std::bit_cast<std::uint32_t>(number);
  const std::uint32_t sign = bits >> 16 & 0x8000, exponent = bits >> 23 & 0xff;
  if (exponent < 113) return static_cast<std::uint16_t>(sign);
  return static_cast<std::uint16_t>(sign | (exponent - 112) << 10 | (bits >> 13 & 0x3ff));
}

void put(Array& array, std::size_t index, float number) {
  const auto bytes = bytes_of(array.element);
  std::byte* const at = array.data.data() + index * bytes;
  const auto bits = std::bit_cast<std::uint32_t>(number);
  const double wide = double{number} * (1 + 1e-9);  // needs rounding
  const std::uint16_t half =
      array.element == Element::f16 ? f16_near(number) : static_cast<std::uint16_t>(bits >> 16);
  if (array.element == Element::boolean) *at = std::byte{number < 0.67f};
  if (bytes == 2) std::memcpy(at, &half, sizeof half);
  if (array.element == Element::f32) std::memcpy(at, &number, sizeof number);
  if (array.element == Element::f64) std::memcpy(at, &wide, sizeof wide);
}

}  // namespace

Ran run(const Folder& folder, const Run& run) {
  const Folder caught;
  const pid_t child = ::fork();
  if (child == 0) become_program(folder, run, caught);
  int status = -1;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  Ran ran;
  ran.code = WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
  if (run.stdout_file.empty()) ran.output = bytes_of_file(caught.path("out"));
  ran.errors = bytes_of_file(caught.path("err"));
  return ran;
}

Array random_array(Element element, std::vector<Index> extents, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  Array array = zeros(element, std::move(extents));
  for (std::size_t i = 0; i < array.data.size() / bytes_of(element); ++i)
    put(array, i, normal(random));
  return array;
}

Example::Example(Element element, std::size_t rank)
    : query(random_array(element, last(rank, {2, 4, 6, 8}), 1)),
      key(random_array(element, last(rank, {2, 2, 9, 8}), 2)),
      value(random_array(element, last(rank, {2, 2, 9, 5}), 3)) {}

Outcome outcome(const Example& example) {
  std::vector<Index> shape = example.query.extents;
  Outcome made;
  shape.back() = example.value.extents.back();
  made.output = zeros(example.query.element, shape);
  shape.back() = example.key.extents[shape.size() - 2];
  made.weights = zeros(example.query.element, shape);
  shape.pop_back();
  made.lse = zeros(Element::f32, shape);
  Options options = example.options;
  options.threads = 1;
  if (example.mask) options.mask = tensor_of(*example.mask);
  if (example.bias) options.bias = tensor_of(*example.bias);
  if (example.key_lengths) options.key_lengths = *example.key_lengths;
  const Status status =
      attend(tensor_of(example.query), tensor_of(example.key), tensor_of(example.value),
             {tensor_of(made.output), tensor_of(made.lse), tensor_of(made.weights)}, options);
  EXPECT_TRUE(status.ok()) << describe(status);
  return made;
}

void save(const Folder& folder, const std::string& name, const Array& array) {
  write_arrays({{{"array", folder.path(name)}, &array}});
}

void save(const Folder& folder, const Example& example, const std::string& ending) {
  save(folder, "q" + ending, example.query);
  save(folder, "k" + ending, example.key);
  save(folder, "v" + ending, example.value);
}

Words attend_words(const Words& more, const std::string& ending) {
  Words words{"attend",  "--query",    "q" + ending, "--key",     "k" + ending,
              "--value", "v" + ending, "--output",   "o" + ending};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

}  // namespace scaledot::cli::tests
