// What the program prints when all is well.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "program.hpp"
#include "scaledot/machine.hpp"

namespace scaledot::cli::tests {

namespace {

using Json = nlohmann::json;

TEST(ProgramSays, ItsVersion) {
  const Ran ran = run(Folder(), {{"--version"}});
  EXPECT_EQ(ran.code, 0);
  EXPECT_EQ(ran.output, "scaledot " + std::string(version()) + "\n");
}

TEST(ProgramSays, AnExampleThatWorks) {
  const Folder folder;
  save(folder, Example());
  const Ran help = run(folder, {{"--help"}});
  ASSERT_EQ(help.code, 0);
  const std::size_t begin = help.output.find("scaledot attend ");
  ASSERT_NE(begin, std::string::npos) << help.output;
  std::istringstream line(help.output.substr(begin, help.output.find('\n', begin) - begin));
  Words words;
  for (std::string word; line >> word;) words.push_back(word);
  words.erase(words.begin());
  const Ran ran = run(folder, {words});
  EXPECT_EQ(ran.code, 0) << ran.errors;
  EXPECT_EQ(folder.names(), (Words{"k.npy", "out.npy", "q.npy", "v.npy"}));
}

// What follows the last "scaledot " of a text: the words of its example, `\` and line ends left
// out.
Words example_in(const std::string& help) {
  std::istringstream text(help.substr(help.rfind("  ", help.rfind("scaledot "))));
  Words words;
  for (std::string word; text >> word;)
    if (word != "\\" && word != "scaledot") words.push_back(word);
  return words;
}

TEST(ProgramSays, AnExampleOfEachCommand) {
  const Folder folder;
  const Example example(Element::f32, 2);
  save(folder, "qkv.npz:q", example.query);
  save(folder, "qkv.npz:k", example.key);
  save(folder, "qkv.npz:v", example.value);
  for (const char* command : {"attend", "bench", "info"}) {
    const Ran help = run(folder, {{command, "--help"}});
    EXPECT_EQ(help.code, 0);
    Words words = example_in(help.output), environment;
    while (!words.empty() && words.front().find('=') != std::string::npos) {
      environment.push_back("SCALEDOT_ISA=scalar");  // the named one may not be usable here
      words.erase(words.begin());
    }
    ASSERT_FALSE(words.empty()) << help.output;
    EXPECT_EQ(words.front(), command) << help.output;
    // A measurement takes its time: here it is enough that its options are understood.
    const bool is_bench = words.front() == std::string("bench");
    if (is_bench) environment = {"SCALEDOT_ISA=none"};
    const Ran ran = run(folder, {words, environment});
    EXPECT_EQ(ran.code, is_bench ? 2 : 0) << ran.errors;
    EXPECT_EQ(ran.errors.find("SCALEDOT_ISA") != std::string::npos, is_bench) << ran.errors;
  }
}

TEST(ProgramSays, EachOptionInItsHelp) {
  const Ran ran = run(Folder(), {{"attend", "--help"}});
  EXPECT_EQ(ran.code, 0);
  for (const char* option :
       {"--query", "--key", "--value", "--output", "--lse", "--weights", "--scale", "--causal",
        "--window", "--mask", "--bias", "--softcap", "--key-lengths", "--arithmetic", "--threads",
        "--json", "top_left", "bottom_right", "automatic"})
    EXPECT_NE(ran.output.find(option), std::string::npos) << option;
}

TEST(ProgramSays, WhereTheResultsAre) {
  const Folder folder;
  save(folder, Example());
  const Ran ran = run(folder, {attend_words({"--lse=l.npz:x", "--weights=w.npy"})});
  EXPECT_EQ(ran.code, 0) << ran.errors;
  EXPECT_EQ(ran.output,
            "o.npy: f32 [2, 4, 6, 5]\nl.npz:x: f32 [2, 4, 6]\nw.npy: f32 [2, 4, 6, 9]\n");
}

TEST(ProgramSays, EverythingInJson) {
  const Folder folder;
  save(folder, Example());
  save(folder, "m.npy", random_array(Element::boolean, {6, 9}, 7));
  save(folder, "b.npy", random_array(Element::f16, {9}, 6));
  folder.file("n.npy", npy(1, npy_text("<i8", "(2,)"), little(std::int64_t{9}, std::int64_t{4})));
  const Ran ran = run(
      folder, {attend_words({"--json", "--lse=l.npy", "--weights=w.npy", "--mask=m.npy",
                             "--bias=b.npy", "--key-lengths=n.npy", "--scale=0.5", "--softcap=2",
                             "--causal=top_left", "--window=3,-1", "--threads=3"})});
  ASSERT_EQ(ran.code, 0) << ran.errors;
  const Json json = Json::parse(ran.output);
  const auto tensor = [](const char* file, const char* dtype, const std::vector<int>& shape) {
    return Json{{"file", file}, {"dtype", dtype}, {"shape", shape}};
  };
  EXPECT_EQ(json["query"], tensor("q.npy", "f32", {2, 4, 6, 8}));
  EXPECT_EQ(json["key"], tensor("k.npy", "f32", {2, 2, 9, 8}));
  EXPECT_EQ(json["value"], tensor("v.npy", "f32", {2, 2, 9, 5}));
  EXPECT_EQ(json["output"], tensor("o.npy", "f32", {2, 4, 6, 5}));
  EXPECT_EQ(json["lse"], tensor("l.npy", "f32", {2, 4, 6}));
  EXPECT_EQ(json["weights"], tensor("w.npy", "f32", {2, 4, 6, 9}));
  EXPECT_EQ(json["mask"], tensor("m.npy", "boolean", {6, 9}));
  EXPECT_EQ(json["bias"], tensor("b.npy", "f16", {9}));
  EXPECT_EQ(json["key_lengths"], (Json{9, 4}));
  EXPECT_EQ(json["scale"], 0.5);
  EXPECT_EQ(json["softcap"], 2.0);
  EXPECT_EQ(json["causal"], "top_left");
  EXPECT_EQ(json["window"], (Json{3, -1}));
  EXPECT_EQ(json["arithmetic"], "f32");
  EXPECT_EQ(json["threads"], 3);
  EXPECT_GT(json["microseconds"], 0);
  EXPECT_EQ(json["notes"], Json::array());
}

void expect_documented(const Json& json, const std::string& document) {
  for (const auto& [key, value] : json.items()) {
    if (json.is_object()) {
      EXPECT_NE(document.find("`" + key + "`"), std::string::npos) << key << " is not documented";
    }
    if (value.is_structured()) expect_documented(value, document);
  }
}

TEST(ProgramSays, InJsonWhatTheDocumentsList) {
  const std::string document = bytes_of_file(SCALEDOT_DOCUMENT);
  const Folder folder;
  save(folder, Example());
  for (const Words& words :
       {attend_words({"--json"}), Words{"info", "--json"},
        Words{"bench", "--json", "--heads", "1", "--queries", "4", "--keys", "4"}}) {
    const Ran ran = run(folder, {words});
    ASSERT_EQ(ran.code, 0) << ran.errors;
    const std::size_t begin = document.find("## scaledot " + words[0]);
    const std::string section = document.substr(begin, document.find("\n## ", begin) - begin);
    expect_documented(Json::parse(ran.output), section);
  }
}

TEST(ProgramSays, WhatWasChosenForTheCaller) {
  const Folder folder;
  save(folder, Example(Element::bf16), ".safetensors");
  Words words = attend_words({"--json"}, ".safetensors");
  words[8] = "o.npy";
  const Ran ran = run(folder, {words, {"SCALEDOT_ISA=scalar", "SCALEDOT_THREADS=5"}});
  ASSERT_EQ(ran.code, 0) << ran.errors;
  const Json json = Json::parse(ran.output);
  EXPECT_EQ(json["scale"].get<float>(), static_cast<float>(1 / std::sqrt(8.0)));
  EXPECT_EQ(json["softcap"], 0);
  EXPECT_EQ(json["causal"], "off");
  EXPECT_EQ(json["window"], (Json{-1, -1}));
  EXPECT_EQ(json["arithmetic"], "bf16");
  EXPECT_EQ(json["isa"], "scalar");
  EXPECT_EQ(json["threads"], 5);
  EXPECT_EQ(json["output"]["dtype"], "f32");  // as it was written
  EXPECT_EQ(json["notes"].size(), 1u);
  EXPECT_FALSE(json.contains("lse") || json.contains("weights") || json.contains("mask") ||
               json.contains("bias") || json.contains("key_lengths"));
}

TEST(ProgramSays, WhatIsInThisMachine) {
  const Machine found = machine();
  const Ran text = run(Folder(), {{"info"}});
  EXPECT_EQ(text.code, 0);
  for (const std::string& part : {std::string(version()), std::string(found.processor.data()),
                                  std::string("cores"), std::string("AMX"), std::string("in use")})
    EXPECT_NE(text.output.find(part), std::string::npos) << part << " in " << text.output;

  const Ran ran = run(Folder(), {{"info", "--json"}});
  ASSERT_EQ(ran.code, 0);
  const Json json = Json::parse(ran.output);
  EXPECT_EQ(json["version"], version());
  EXPECT_EQ(json["processor"], found.processor.data());
  EXPECT_EQ(json["cores"], found.cores);
  EXPECT_EQ(json["l1_bytes"], found.l1_bytes);
  EXPECT_EQ(json["l2_bytes"], found.l2_bytes);
  EXPECT_EQ(json["l3_bytes"], found.l3_bytes);
  EXPECT_EQ(json["amx_bf16"], found.amx_bf16);
  EXPECT_EQ(json["amx_granted"], found.amx_granted);
  ASSERT_EQ(json["instruction_sets"].size(), found.instruction_sets.size());
  for (std::size_t n = 0; n < found.instruction_sets.size(); ++n) {
    const InstructionSet& set = found.instruction_sets[n];
    EXPECT_EQ(json["instruction_sets"][n],
              (Json{{"name", set.name}, {"in_use", set.in_use}, {"why_not", set.why_not}}));
    if (set.in_use && (n == 0 || !found.instruction_sets[n - 1].in_use)) {
      EXPECT_EQ(json["isa"], set.name);
    }
    EXPECT_NE(text.output.find(std::string(set.name)), std::string::npos);
    EXPECT_NE(text.output.find(set.why_not), std::string::npos);
  }
}

TEST(ProgramSays, NothingElseWhereVariablesAreEmpty) {
  const Ran ran = run(Folder(), {{"info", "--json"}, {"SCALEDOT_ISA=", "SCALEDOT_THREADS="}});
  ASSERT_EQ(ran.code, 0) << ran.errors;
  const Json json = Json::parse(ran.output);
  EXPECT_NE(json["isa"], "");
  EXPECT_EQ(ran.output.find("SCALEDOT_ISA"), std::string::npos);  // as why a set is not in use
  EXPECT_EQ(json["threads"], machine().cores);
}

TEST(ProgramSays, WhichInstructionSetWasAskedFor) {
  const Ran ran = run(Folder(), {{"info", "--json"}, {"SCALEDOT_ISA=scalar"}});
  ASSERT_EQ(ran.code, 0);
  EXPECT_EQ(Json::parse(ran.output)["isa"], "scalar");
}

}  // namespace

}  // namespace scaledot::cli::tests
