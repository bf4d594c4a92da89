// The types that `scaledot attend` turns into others, and what it says then.
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "convert.hpp"
#include "program.hpp"

namespace scaledot::cli::tests {

namespace {

// The note as stderr has it.
std::string note(const std::string& text) { return "scaledot: note: " + text + "\n"; }

TEST(AttendTypes, RoundsF64) {
  const Folder folder;
  const Example exact(Element::f64);
  Example example;  // the same numbers, rounded
  example.bias = random_array(Element::f32, {9}, 6);
  ASSERT_NE(elements_of(exact.query), elements_of(example.query));
  save(folder, exact);
  save(folder, "b.npy", random_array(Element::f64, {9}, 6));
  const Ran ran = run(folder, {attend_words({"--lse=l.npy", "--weights=w.npy", "--bias=b.npy"})});
  ASSERT_EQ(ran.code, 0) << ran.errors;
  EXPECT_EQ(ran.errors, note("query: f64 rounded to f32") + note("key: f64 rounded to f32") +
                            note("value: f64 rounded to f32") + note("bias: f64 rounded to f32"));
  const Outcome expected = outcome(example);
  for (const auto& [name, array] :
       {std::pair("o.npy", &expected.output), std::pair("l.npy", &expected.lse),
        std::pair("w.npy", &expected.weights)}) {
    const Array got = read(folder.path(name));
    EXPECT_EQ(got.element, Element::f32) << name;
    EXPECT_EQ(elements_of(got), elements_of(*array)) << name;
  }
}

TEST(AttendTypes, SaysInJsonWhatWasReadAndWritten) {
  const Folder folder;
  save(folder, Example(Element::f64));
  save(folder, "k.npy", Example(Element::f16).key);
  save(folder, "b.npy", random_array(Element::f64, {9}, 6));
  const Ran ran = run(folder, {attend_words({"--weights=w.npy", "--bias=b.npy", "--json"})});
  ASSERT_EQ(ran.code, 0) << ran.errors;
  const auto json = nlohmann::json::parse(ran.output);
  for (const auto& [argument, dtype] :
       {std::pair("query", "f64"), std::pair("key", "f16"), std::pair("value", "f64"),
        std::pair("bias", "f64"), std::pair("output", "f32"), std::pair("weights", "f32")})
    EXPECT_EQ(json[argument]["dtype"], dtype) << argument;
}

TEST(AttendTypes, SaysWhichF64AreBeyondF32) {
  const Folder folder;
  folder.file("q.npy", npy(1, npy_text("<f8", "(1, 1)"), little(0.0)));
  folder.file("k.npy", npy(1, npy_text("<f8", "(2, 1)"), little(0.0, 0.0)));
  folder.file("v.npy", npy(1, npy_text("<f8", "(2, 1)"), little(1e300, 4.0)));
  const Ran beyond = run(folder, {attend_words()});
  ASSERT_EQ(beyond.code, 0) << beyond.errors;
  EXPECT_NE(beyond.errors.find("value: f64 rounded to f32; 1 beyond its range became infinite\n"),
            std::string::npos)
      << beyond.errors;
  EXPECT_EQ(numbers_of<float>(read(folder.path("o.npy"))),
            std::vector{std::numeric_limits<float>::infinity()});

  // A bias stays finite: as the lowest one everywhere it hides no key.
  folder.file("v.npy", npy(1, npy_text("<f8", "(2, 1)"), little(2.0, 4.0)));
  folder.file("b.npy", npy(1, npy_text("<f8", "(2,)"), little(-1e300, -1e300)));
  const Ran ran = run(folder, {attend_words({"--bias", "b.npy"})});
  ASSERT_EQ(ran.code, 0) << ran.errors;
  EXPECT_NE(ran.errors.find("bias: f64 rounded to f32; 2 beyond its range became the largest f32"),
            std::string::npos)
      << ran.errors;
  EXPECT_EQ(numbers_of<float>(read(folder.path("o.npy"))), std::vector{3.0f});
}

TEST(AttendTypes, WidensBf16ForNumpy) {
  const Folder folder;
  const Example example(Element::bf16);
  save(folder, example, ".safetensors");
  Words words = attend_words({"--weights=w.npz", "--lse=l.npy"}, ".safetensors");
  words[8] = "o.npy";
  const Ran ran = run(folder, {words});
  ASSERT_EQ(ran.code, 0) << ran.errors;
  EXPECT_EQ(ran.errors, note("output: bf16 written as f32, exactly") +
                            note("weights: bf16 written as f32, exactly"));
  const Outcome expected = outcome(example);
  for (const auto& [name, array] :
       {std::pair("o.npy", &expected.output), std::pair("w.npz", &expected.weights)}) {
    const Array got = read(folder.path(name));
    EXPECT_EQ(got.element, Element::f32) << name;
    EXPECT_EQ(elements_of(got), elements_of(bf16_to_f32(*array))) << name;
  }
}

TEST(AttendTypes, MayDiffer) {
  const Folder folder;
  Example example(Element::f16);
  example.key = Example(Element::bf16).key;
  example.value = Example(Element::f32).value;
  save(folder, example, ".safetensors");
  const Ran ran = run(folder, {attend_words({"--json"}, ".safetensors")});
  ASSERT_EQ(ran.code, 0) << ran.errors;
  const Array got = read(folder.path("o.safetensors"));
  EXPECT_EQ(got.element, Element::f16);
  EXPECT_EQ(elements_of(got), elements_of(outcome(example).output));
  EXPECT_EQ(nlohmann::json::parse(ran.output)["arithmetic"], "f32");
}

}  // namespace

}  // namespace scaledot::cli::tests
