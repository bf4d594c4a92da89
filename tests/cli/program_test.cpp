// `scaledot attend` against the library called directly, bit for bit: each option by a case in
// which it changes the result.
#include "program.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <ostream>
#include <utility>

namespace scaledot::cli::tests {

namespace {

// Runs an example whose query, key and value lie in the folder, and compares all results.
void expect_library(const Folder& folder, const Example& example, const Words& more,
                    const std::string& ending = ".npy") {
  Words words = attend_words(more, ending);
  words.push_back("--lse=l" + ending);
  words.push_back("--weights=w" + ending);
  const Ran ran = run(folder, {words});
  ASSERT_EQ(ran.code, 0) << ran.errors;
  EXPECT_EQ(ran.errors, "");
  const Outcome expected = outcome(example);
  const std::pair<const char*, const Array*> results[] = {
      {"o", &expected.output}, {"l", &expected.lse}, {"w", &expected.weights}};
  for (const auto& [name, array] : results) {
    const Array got = read(folder.path(name + ending));
    EXPECT_EQ(got.element, array->element) << name;
    EXPECT_EQ(got.extents, array->extents) << name;
    EXPECT_EQ(elements_of(got), elements_of(*array)) << name;
  }
}

TEST(Attend, IsWhatTheLibrarySays) {
  for (const Element element : {Element::f32, Element::f16, Element::bf16})
    for (const std::size_t rank : {2u, 3u, 4u}) {
      SCOPED_TRACE(testing::Message() << name_of(element) << ", rank " << rank);
      const Folder folder;
      const Example example(element, rank);
      save(folder, example, ".safetensors");
      expect_library(folder, example, {}, ".safetensors");
    }
}

struct OptionCase {
  Words words;
  std::function<void(Example&)> change;
  Element element = Element::f32;
};

void PrintTo(const OptionCase& one, std::ostream* stream) {
  for (const std::string& word : one.words) *stream << word << ' ';
}

class AttendOption : public testing::TestWithParam<OptionCase> {};

TEST_P(AttendOption, IsObeyed) {
  const OptionCase& one = GetParam();
  const Folder folder;
  Example example(one.element);
  const std::string plain = elements_of(outcome(example).output);
  one.change(example);
  ASSERT_NE(elements_of(outcome(example).output), plain) << "an option that is ignored would pass";
  save(folder, example, ".safetensors");
  if (example.mask) save(folder, "mask.npy", *example.mask);
  if (example.bias) save(folder, "bias.safetensors", *example.bias);
  expect_library(folder, example, one.words, ".safetensors");
}

void top_left(Example& example) { example.options.causal = Causal::top_left; }
void bottom_right(Example& example) { example.options.causal = Causal::bottom_right; }
auto scale(float scale) {
  return [scale](Example& example) { example.options.scale = scale; };
}
auto window(Index left, Index right) {
  return [left, right](Example& example) { example.options.window = {left, right}; };
}
auto mask(const std::vector<Index>& extents) {
  return [extents](Example& example) { example.mask = random_array(Element::boolean, extents, 7); };
}
auto bias(Element element, const std::vector<Index>& extents) {
  return [=](Example& example) { example.bias = random_array(element, extents, 6); };
}

const Words with_mask{"--mask", "mask.npy"}, with_bias{"--bias", "bias.safetensors"};

INSTANTIATE_TEST_SUITE_P(
    Each, AttendOption,
    testing::Values(
        OptionCase{{"--scale", "0.7"}, scale(0.7f)}, OptionCase{{"--scale=1e-1"}, scale(0.1f)},
        OptionCase{{"--scale", "-0.25"}, scale(-0.25f)}, OptionCase{{"--scale", "0"}, scale(0)},
        OptionCase{{"--softcap", "1.5"}, [](Example& example) { example.options.softcap = 1.5f; }},
        OptionCase{{"--causal", "top_left"}, top_left},
        OptionCase{{"--causal=bottom_right"}, bottom_right},
        OptionCase{{"--window", "1,2"}, window(1, 2)},
        OptionCase{{"--window", "-1,2"}, window(-1, 2)},
        OptionCase{{"--window=-1,0"}, window(-1, 0)}, OptionCase{{"--window=0,-1"}, window(0, -1)},
        OptionCase{{"--window", "1,-1", "--causal", "bottom_right"},
                   [](Example& example) {
                     bottom_right(example);
                     window(1, -1)(example);
                   }},
        OptionCase{with_mask, mask({9})}, OptionCase{with_mask, mask({6, 9})},
        OptionCase{with_mask, mask({4, 1, 9})}, OptionCase{with_mask, mask({2, 1, 6, 1})},
        OptionCase{with_bias, bias(Element::f32, {6, 9})},
        OptionCase{with_bias, bias(Element::f16, {2, 4, 1, 9})},
        OptionCase{with_bias, bias(Element::bf16, {9})},
        OptionCase{{"--arithmetic", "f32"},
                   [](Example& example) { example.options.arithmetic = Arithmetic::f32; },
                   Element::bf16}));

TEST(Attend, TakesARankOf0) {
  const Folder folder;
  Example example;
  example.mask = zeros(Element::boolean, {});  // nobody sees anything
  save(folder, example);
  save(folder, "mask.npy", *example.mask);
  expect_library(folder, example, with_mask);
}

TEST(Attend, TakesKeyLengthsOfBothTypes) {
  for (const auto& [lengths, code] : {std::pair(little(std::int64_t{4}, std::int64_t{0}), "<i8"),
                                      std::pair(little(std::int32_t{4}, std::int32_t{0}), "<i4")}) {
    const Folder folder;
    Example example;
    example.options.causal = Causal::bottom_right;
    const std::string all = elements_of(outcome(example).output);
    example.key_lengths = {4, 0};
    ASSERT_NE(elements_of(outcome(example).output), all);
    save(folder, example);
    folder.file("n.npy", npy(1, npy_text(code, "(2,)"), lengths));
    expect_library(folder, example, {"--key-lengths", "n.npy", "--causal", "bottom_right"});
  }
}

TEST(Attend, TakesOneKeyLengthOfRank0) {
  const Folder folder;
  Example example(Element::f32, 3);
  example.key_lengths = {5};
  save(folder, example);
  folder.file("n.npy", npy(1, npy_text("<i8", "()"), little(std::int64_t{5})));
  expect_library(folder, example, {"--key-lengths=n.npy"});
}

TEST(Attend, HasTheSameBitsOnAnyThreadsAndInstructionSet) {
  const Folder folder;
  const Example example;
  save(folder, example);
  expect_library(folder, example, {"--threads", "3"});
  ASSERT_EQ(run(folder, {attend_words(), {"SCALEDOT_ISA=scalar"}}).code, 0);
  EXPECT_EQ(elements_of(read(folder.path("o.npy"))), elements_of(outcome(example).output));
}

TEST(Attend, ReadsFortranOrder) {
  const Folder folder;
  Example example(Element::f32, 2);
  save(folder, example);
  Array turned = zeros(Element::f32, {8, 6});  // the transpose, in C order
  for (std::size_t i = 0; i < 6; ++i)
    for (std::size_t d = 0; d < 8; ++d)
      std::memcpy(turned.data.data() + (d * 6 + i) * 4, example.query.data.data() + (i * 8 + d) * 4,
                  4);
  folder.file("q.npy", npy(1, "{'descr': '<f4', 'fortran_order': True, 'shape': (6, 8), }",
                           elements_of(turned)));
  expect_library(folder, example, {});
}

TEST(Attend, FindsTensorsByName) {
  const Folder folder;
  const Example example;
  save(folder, "in.npz:q", example.query);
  save(folder, "in.npz:k", example.key);
  save(folder, "in.safetensors:v", example.value);
  const Words words{"attend",    "--query", "in.npz:q",          "--key",
                    "in.npz:k",  "--value", "in.safetensors:v",  "--output",
                    "out.npz:o", "--lse",   "out.safetensors:l", "--weights",
                    "out.npz:w"};
  const Ran ran = run(folder, {words});
  ASSERT_EQ(ran.code, 0) << ran.errors;
  const Outcome expected = outcome(example);
  EXPECT_EQ(elements_of(read(folder.path("out.npz:o"))), elements_of(expected.output));
  EXPECT_EQ(elements_of(read(folder.path("out.safetensors:l"))), elements_of(expected.lse));
  EXPECT_EQ(elements_of(read(folder.path("out.npz:w"))), elements_of(expected.weights));
}

}  // namespace

}  // namespace scaledot::cli::tests
