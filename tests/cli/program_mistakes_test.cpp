// Mistakes and failures: the exit code, one line on stderr, nothing on stdout, no file touched.
#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>

#include "program.hpp"

namespace scaledot::cli::tests {

namespace {

struct Mistake {
  Words words;
  std::string message;  // a part of it
  int code = 2;
  Words environment = {};
};

void PrintTo(const Mistake& one, std::ostream* stream) {
  for (const std::string& word : one.words) *stream << word << ' ';
}

// Files that fit together, some that do not, and results of an earlier run.
void fill(const Folder& folder) {
  save(folder, Example());
  save(folder, "q3.npy", Example(Element::f32, 3).query);
  save(folder, "boolean.npy", random_array(Element::boolean, {6, 9}, 7));
  save(folder, "long.npy", random_array(Element::f32, {10}, 7));
  folder.file("lengths.npy", npy(1, npy_text("<i8", "(1,)"), little(std::int64_t{9})));
  folder.file("too_many.npy",
              npy(1, npy_text("<i8", "(2,)"), little(std::int64_t{9}, std::int64_t{10})));
  folder.file("of_rank_2.npy",
              npy(1, npy_text("<i8", "(2, 1)"), little(std::int64_t{9}, std::int64_t{9})));
  folder.file("short.npy", npy(1, npy_text("<f4", "(2, 4, 6, 8)"), "ab"));
  folder.file("hostile.npy", npy(1, npy_text("<f4", "(9999999999, 9999999999)"), "ab"));
  folder.file("text.npy", "query");
  folder.file("wide.npy", npy(1, npy_text("<f4", "(0, 4611686018427387904)"), ""));
  folder.file("none.npy", npy(1, npy_text("<f4", "(0, 8)"), ""));
  save(folder, "q2.npy", Example(Element::f32, 2).query);
  folder.file("o.npy", "an earlier result");
  folder.file("l.npy", "an earlier lse");
}

void expect_refused(const Mistake& one) {
  const Folder folder;
  fill(folder);
  const Words names = folder.names();
  const Ran ran = run(folder, {one.words, one.environment});
  EXPECT_EQ(ran.code, one.code);
  EXPECT_EQ(ran.output, "");
  EXPECT_EQ(ran.errors.rfind("scaledot: ", 0), 0u) << ran.errors;
  EXPECT_NE(ran.errors.find(one.message), std::string::npos) << ran.errors;
  EXPECT_EQ(std::count(ran.errors.begin(), ran.errors.end(), '\n'), 1) << ran.errors;
  EXPECT_EQ(ran.errors.back(), '\n');
  EXPECT_EQ(folder.names(), names);
  EXPECT_TRUE(bytes_of_file(folder.path("o.npy")) == "an earlier result");
  EXPECT_TRUE(bytes_of_file(folder.path("l.npy")) == "an earlier lse");
}

class Mistaken : public testing::TestWithParam<Mistake> {};

TEST_P(Mistaken, IsRefused) { expect_refused(GetParam()); }

Mistake with(const Words& words, const std::string& message, int code = 2) {
  return {attend_words(words), message, code};
}

// The same with other files.
Mistake of(const std::string& query, const std::string& key, const std::string& value,
           const std::string& message, int code = 2) {
  return {{"attend", "--query", query, "--key", key, "--value", value, "--output", "o.npy"},
          message,
          code};
}

INSTANTIATE_TEST_SUITE_P(
    Commands, Mistaken,
    testing::Values(Mistake{{}, "no command, expected attend, bench, info, or --help"},
                    Mistake{{"attention"}, "'attention' is no command, expected attend, bench"},
                    Mistake{{"--nonsense", "more"}, "'--nonsense' is no command"},
                    Mistake{{"--json", "info"}, "--json"}, Mistake{{"info", "attend"}, "attend"},
                    Mistake{{"attend"}, "--query"}, Mistake{{"info", "more"}, "more"},
                    Mistake{{"info"}, "SCALEDOT_ISA", 2, {"SCALEDOT_ISA=sse2"}},
                    Mistake{attend_words(), "SCALEDOT_ISA", 2, {"SCALEDOT_ISA=sse2"}},
                    Mistake{attend_words(), "SCALEDOT_THREADS", 2, {"SCALEDOT_THREADS=many"}},
                    with({"--scales", "1"}, "--scales"), with({"more"}, "more"),
                    with({"--json=1x"}, "json"), with({"--scale=1", "--scale=2"}, "--scale")));

INSTANTIATE_TEST_SUITE_P(
    Options, Mistaken,
    testing::Values(
        with({"--scale", "nan"}, "scale is nan"), with({"--scale", "inf"}, "scale is inf"),
        with({"--scale=-inf"}, "scale is -inf"),
        with({"--scale", "1e39"}, "--scale is '1e39', expected a number in f32's range"),
        with({"--scale=-1e400"}, "--scale is '-1e400', expected a number in f32's range"),
        with({"--scale", "1e-50"}, "--scale is '1e-50', expected a number in f32's range"),
        with({"--softcap", "1e-50"}, "--softcap is '1e-50', expected a number in f32's range"),
        with({"--softcap", "1e-40"}, "softcap is 9.99994"), with({"--scale", "3e38"}, "scale is 3"),
        with({"--scale", "half"}, "--scale is 'half', expected a number"),
        with({"--scale", "1.5x"}, "1.5x"), with({"--scale", ""}, "--scale"),
        with({"--scale"}, "--scale"),
        with({"--softcap", "-1"}, "softcap is -1, expected a finite number: 0"),
        with({"--softcap=1e-30", "--scale=1e9"}, "softcap * log2(e) and scale / softcap"),
        with({"--softcap", "nan"}, "softcap is nan"), with({"--softcap", "inf"}, "softcap is inf"),
        with({"--softcap", "1,5"}, "--softcap is '1,5', expected a number"),
        with({"--causal", "left"}, "left"), with({"--causal", "left"}, "top_left"),
        with({"--causal", "1"}, "bottom_right"), with({"--arithmetic", "f64"}, "automatic"),
        with({"--arithmetic", "bf16"}, "query is f32, expected bf16"),
        with({"--window", "1"}, "LEFT,RIGHT"), with({"--window", "1,2,3"}, "1,2,3"),
        with({"--window", "1,2x"}, "1,2x"), with({"--window=1.5,2"}, "1.5,2"),
        with({"--window", "99999999999999999999,0"},
             "--window is '99999999999999999999,0', which is out of range"),
        with({"--window", "0,99999999999999999999"}, "which is out of range"),
        with({"--window", "99999999999999999999"}, "expected LEFT,RIGHT"),
        with({"--window", "-2,1"}, "window.left is -2"),
        with({"--window=1,-3"}, "window.right is -3"), with({"--window"}, "--window"),
        with({"--threads", "-1"}, "--threads is '-1', expected a whole number from 0 to 65536"),
        with({"--threads", "1.5"}, "--threads is '1.5'"),
        with({"--threads", "65537"}, "--threads is '65537'"),
        with({"--threads", "99999999999999999999"}, "--threads is '99999999999999999999'"),
        with({"--threads", "two"}, "--threads is 'two'")));

Mistake of_bench(const Words& words, const std::string& message) {
  Words all{"bench"};
  all.insert(all.end(), words.begin(), words.end());
  return {all, message};
}

INSTANTIATE_TEST_SUITE_P(
    Bench, Mistaken,
    testing::Values(of_bench({"--heads", "many"},
                             "--heads is 'many', expected a whole number from 0"),
                    of_bench({"--keys", "-1"}, "--keys is '-1', expected a whole number from 0"),
                    of_bench({"--window", "3"}, "--window is '3', expected LEFT,RIGHT"),
                    of_bench({"--window", "-2,1"}, "window.left is -2"),
                    of_bench({"--threads", "two"}, "--threads is 'two', expected"),
                    of_bench({"--head-dim", "1e3"}, "--head-dim is '1e3', expected")));

INSTANTIATE_TEST_SUITE_P(
    Tensors, Mistaken,
    testing::Values(
        of("q3.npy", "k.npy", "v.npy", "key has rank 4, expected 3"),
        of("q.npy", "q.npy", "v.npy", "value: axis 1 is 2, expected 4"),
        of("boolean.npy", "boolean.npy", "boolean.npy",
           "query is boolean, expected f32, f16 or bf16"),
        of("q.npy", "lengths.npy", "v.npy", "key is i64, expected f32, f16, bf16 or f64"),
        of("long.npy", "k.npy", "v.npy", "query has rank 1"),
        with({"--mask", "q.npy"}, "mask is f32, expected boolean"),
        with({"--mask", "lengths.npy"}, "mask is i64, expected boolean"),
        with({"--bias", "boolean.npy"}, "bias is boolean, expected f32, f16 or bf16"),
        with({"--bias", "long.npy"}, "bias: axis 0 is 10, expected 9"),
        with({"--key-lengths", "q.npy"}, "key_lengths is f32, expected i64 or i32"),
        with({"--key-lengths", "lengths.npy"}, "key_lengths has 1 entries, expected 2"),
        with({"--key-lengths", "too_many.npy"}, "key_lengths: entry 1 is 10"),
        with({"--key-lengths", "of_rank_2.npy"}, "key_lengths has rank 2, expected 1")));

INSTANTIATE_TEST_SUITE_P(
    Files, Mistaken,
    testing::Values(of("nothing.npy", "k.npy", "v.npy", "query: 'nothing.npy'"),
                    of("q.npy", ".", "v.npy", "key: '.'"),
                    of("q.npy", "k.npy", "text.npy", "value: 'text.npy'"),
                    of("short.npy", "k.npy", "v.npy", "query: 'short.npy'"),
                    of("hostile.npy", "k.npy", "v.npy", "query: 'hostile.npy'"),
                    of("q.npy:x", "k.npy", "v.npy", "query: 'q.npy:x'"),
                    of("q.txt", "k.npy", "v.npy", "'q.txt'"), of("", "k.npy", "v.npy", "empty"),
                    of("a\nb.npy", "k.npy", "v.npy", "query"),
                    with({"--lse", "o.npy"}, "lse: 'o.npy'"),
                    with({"--lse", "./o.npy"}, "lse: './o.npy'"),
                    with({"--weights", "q.npy"}, "weights: 'q.npy'"), with({"--lse="}, "--lse"),
                    with({"--lse", "l.txt"}, "lse: 'l.txt'")));

INSTANTIATE_TEST_SUITE_P(
    Failures, Mistaken,
    testing::Values(with({"--lse", "nowhere/l.npy"}, "lse: 'nowhere/l.npy'", 1),
                    // [6, 8] and [0, 8] are a query and its keys, so this output would be valid.
                    of("q2.npy", "none.npy", "wide.npy", "out of memory: output", 1)));

// The report comes after the results, so that a pipe that breaks costs no computation.
TEST(Failure, OfStdoutIsSaidAndTheFilesAreComplete) {
  const Folder folder;
  save(folder, Example());
  const Ran ran = run(folder, {attend_words({"--json"}), {}, "/dev/full"});
  EXPECT_EQ(ran.code, 1);
  EXPECT_EQ(ran.errors, "scaledot: cannot write to stdout: No space left on device\n");
  EXPECT_EQ(folder.names(), (Words{"k.npy", "o.npy", "q.npy", "v.npy"}));
  EXPECT_EQ(elements_of(read(folder.path("o.npy"))), elements_of(outcome(Example()).output));
}

TEST(Failure, OfStdoutIsSaidWhateverIsPrinted) {
  for (const Words& words : {Words{"--version"}, {"--help"}, {"attend", "--help"}, {"info"}}) {
    const Ran ran = run(Folder(), {words, {}, "/dev/full"});
    EXPECT_EQ(ran.code, 1) << words.back();
    EXPECT_EQ(ran.errors, "scaledot: cannot write to stdout: No space left on device\n");
  }
}

TEST(Failure, OfAFileThatGrowsTooLargeLeavesNothing) {
  for (const char* ending : {".npy", ".npz", ".safetensors"}) {
    const Folder folder;
    save(folder, Example(), ending);
    const Words names = folder.names();
    const Ran ran = run(folder, {attend_words({}, ending), {}, "", 1000});
    EXPECT_EQ(ran.code, 1);
    EXPECT_NE(ran.errors.find("cannot be written: "), std::string::npos) << ran.errors;
    EXPECT_NE(ran.errors.find("File too large\n"), std::string::npos) << ran.errors;
    EXPECT_EQ(folder.names(), names);
  }
}

}  // namespace

}  // namespace scaledot::cli::tests
