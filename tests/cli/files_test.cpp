// Files by the names a caller gives, and writing: everything or nothing.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "failure.hpp"
#include "file_bytes.hpp"
#include "tensor_file.hpp"

namespace scaledot::cli::tests {
namespace {

using Names = std::vector<std::string>;

std::string failure_of(const std::vector<Target>& targets) {
  try {
    write_arrays(targets);
    return "";
  } catch (const Failure& failure) {
    return failure.message;
  }
}

std::string name_fault(const std::string& text) {
  try {
    parse_tensor_name(text);
    return "";
  } catch (const Failure& failure) {
    return failure.message;
  }
}

TEST(TensorName, TheNameBeginsAfterTheEnding) {
  const auto expect = [](const std::string& text, const std::string& path, Format format,
                         const std::string& name) {
    const TensorName parsed = parse_tensor_name(text);
    EXPECT_EQ(parsed.path, path) << text;
    EXPECT_EQ(parsed.format, format) << text;
    EXPECT_EQ(parsed.name, name) << text;
  };
  expect("a.npy", "a.npy", Format::npy, "");
  expect("a:b.npy", "a:b.npy", Format::npy, "");
  expect("c:/a:b.npz", "c:/a:b.npz", Format::npz, "");
  expect("a:b.npz:x", "a:b.npz", Format::npz, "x");
  expect("a.npz:x.npy", "a.npz", Format::npz, "x");
  expect("a.safetensors:layer.0:key", "a.safetensors", Format::safetensors, "layer.0:key");
  expect("a.safetensors:b.npz:c", "a.safetensors", Format::safetensors, "b.npz:c");
  expect("A.NPY", "A.NPY", Format::npy, "");
  expect("A.Npz:B.NPZ:C", "A.Npz", Format::npz, "B.NPZ:C");
  expect("A.SAFETENSORS:B", "A.SAFETENSORS", Format::safetensors, "B");
}

TEST(TensorName, OtherEndingsAreRefused) {
  const std::string expected = "is not named .npy, .npz or .safetensors";
  for (const char* text : {"", "a", "a.npy.txt", "a.bin:x", "a.npz2", "npy"})
    EXPECT_EQ(name_fault(text), expected) << text;
  EXPECT_EQ(name_fault("a.npy:x"), "names a tensor in a .npy file, which holds one without a name");
  EXPECT_EQ(name_fault("a.npz:"), "has no name after the colon");
  EXPECT_EQ(name_fault("a.npz:.npy"), "has no name after the colon");
  EXPECT_EQ(name_fault("a.safetensors:__metadata__"),
            "has the name that .safetensors keeps for itself");
}

TEST(Files, WhatCannotBeOpenedIsRefused) {
  const Folder folder;
  const std::string pipe = folder.path("pipe.npy");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(refusal_of(folder.path("none.npy")), "cannot be opened: No such file or directory");
  EXPECT_EQ(refusal_of(folder.path("no/x.npz")), "cannot be opened: No such file or directory");
  EXPECT_EQ(refusal_of(pipe), "is not a regular file");
  std::filesystem::create_directory(folder.path("folder.npy"));
  EXPECT_EQ(refusal_of(folder.path("folder.npy")), "is not a regular file");
}

TEST(Files, EveryTypeComesBackFromEveryFormat) {
  const Folder folder;
  for (const Element element : {Element::f32, Element::f16, Element::bf16, Element::boolean,
                                Element::f64, Element::i32, Element::i64})
    for (const char* file : {"x.npy", "x.npz", "x.safetensors"}) {
      const bool has_bf16 = std::string(file).ends_with(".safetensors");
      if (element == Element::bf16 && !has_bf16) continue;
      for (const std::vector<Index>& extents :
           {std::vector<Index>{}, {3}, {2, 3}, {1, 2, 3}, {2, 1, 3, 2}, {0}, {2, 0, 3}}) {
        std::string bytes(bytes_of(element, extents).value(), '\0');
        for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 7 + 1);
        const Array array = array_of(element, extents, bytes);
        write_arrays({{{"query", folder.path(file)}, &array}});
        const Array again = read(folder.path(file));
        EXPECT_EQ(again.element, element) << file;
        EXPECT_EQ(again.extents, extents) << file;
        EXPECT_EQ(elements_of(again), bytes) << file;
        std::filesystem::remove(folder.path(file));
      }
    }
}

TEST(Files, ASafetensorsFileToTheByte) {
  const Folder folder;
  const Array half = array_of(Element::bf16, {1, 2}, "abcd");
  const Array wide = array_of(Element::f64, {}, "01234567");
  write_arrays({{{"a", folder.path("x.safetensors")}, &half},
                {{"b", folder.path("x.safetensors:c d")}, &wide}});
  const std::string header = R"({"c d":{"data_offsets":[0,8],"dtype":"F64","shape":[]},)"
                             R"("a":{"data_offsets":[8,12],"dtype":"BF16","shape":[1,2]}})";
  const std::string padding((8 - header.size() % 8) % 8, ' ');
  EXPECT_EQ(bytes_of_file(folder.path("x.safetensors")),
            safetensors(header + padding, "01234567abcd"));
}

TEST(Files, OtherTensorsAreKeptAndTheSameNameReplaced) {
  const Folder folder;
  const Array one = array_of(Element::f32, {}, little(1.0f));
  const Array two = array_of(Element::f32, {2}, little(2.0f, 3.0f));
  folder.file("x.npz", zip({stored("note.txt", "kept"),
                            stored("old.npy", npy(2, npy_text(">f4", "()"), from_hex("40a00000"))),
                            stored("new.npy", "not even an array")}));
  folder.file("x.safetensors",
              safetensors(R"({"__metadata__":{"by":"hand"},)"
                          R"("new":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
                          R"("old":{"dtype":"F32","shape":[1],"data_offsets":[1,5]},)"
                          R"("odd":{"dtype":"U8","shape":[3],"data_offsets":[5,8]}})",
                          "x" + little(5.0f) + "odd"));
  for (const std::string& file : {folder.path("x.npz"), folder.path("x.safetensors")}) {
    write_arrays({{{"output", file + ":new"}, &two}, {{"lse", file}, &one}});
    EXPECT_EQ(numbers_of<float>(read(file + ":new")), (std::vector<float>{2, 3})) << file;
    EXPECT_EQ(numbers_of<float>(read(file + ":lse")), std::vector<float>{1}) << file;
    EXPECT_EQ(numbers_of<float>(read(file + ":old")), std::vector<float>{5}) << file;
  }
  EXPECT_NE(bytes_of_file(folder.path("x.npz")).find("note.txtkept"), std::string::npos);
  const std::string file = bytes_of_file(folder.path("x.safetensors"));
  EXPECT_NE(file.find(R"({"__metadata__":{"by":"hand"},)"), std::string::npos) << file;
  EXPECT_TRUE(file.ends_with("odd")) << file;
  EXPECT_EQ(folder.names(), (Names{"x.npz", "x.safetensors"}));
}

TEST(Files, IfOneFailsNoneIsWritten) {
  const Folder folder;
  const Array array = array_of(Element::f32, {}, little(1.0f));
  for (const char* broken : {"z.npz", "z.safetensors", "no/z.npy"}) {
    if (std::string(broken).starts_with("z")) folder.file(broken, "broken");
    folder.file("a.npy", "as before");
    const std::string message = failure_of({{{"output", folder.path("a.npy")}, &array},
                                            {{"lse", folder.path("b.npz")}, &array},
                                            {{"weights", folder.path(broken)}, &array}});
    const std::string about = "weights: '" + folder.path(broken) + "' ";
    EXPECT_TRUE(message.starts_with(about)) << message;
    if (std::string(broken) == "no/z.npy")
      EXPECT_EQ(message, about + "cannot be written: No such file or directory");
    else
      EXPECT_EQ(bytes_of_file(folder.path(broken)), "broken");
    EXPECT_EQ(bytes_of_file(folder.path("a.npy")), "as before");
    std::filesystem::remove(folder.path(broken));
    EXPECT_EQ(folder.names(), Names{"a.npy"});
  }
}

TEST(Files, AReplacedFileKeepsItsModeAndItsLinks) {
  const Folder folder;
  const Array array = array_of(Element::f32, {}, little(1.0f));
  ASSERT_EQ(::chmod(folder.file("real.npy", "old").c_str(), 0640), 0);
  ASSERT_EQ(::symlink("real.npy", folder.path("link.npy").c_str()), 0);
  write_arrays({{{"output", folder.path("link.npy")}, &array}});
  struct stat facts;
  ASSERT_EQ(::lstat(folder.path("link.npy").c_str(), &facts), 0);
  EXPECT_TRUE(S_ISLNK(facts.st_mode));
  ASSERT_EQ(::stat(folder.path("real.npy").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0640u);
  EXPECT_EQ(numbers_of<float>(read(folder.path("real.npy"))), std::vector<float>{1});
}

TEST(Files, ALinkIsFollowedToATargetThatIsMissing) {
  const Folder folder;
  const Array array = array_of(Element::f32, {}, little(1.0f));
  std::filesystem::create_directory(folder.path("runs"));
  const auto link = [&folder](const char* target, const char* name) {
    ASSERT_EQ(::symlink(target, folder.path(name).c_str()), 0);
  };
  link("runs/second.npy", "first.npy");
  link("third.npy", "runs/second.npy");
  write_arrays({{{"output", folder.path("first.npy")}, &array}});
  EXPECT_EQ(numbers_of<float>(read(folder.path("runs/third.npy"))), std::vector<float>{1});
  for (const char* name : {"first.npy", "runs/second.npy"})
    EXPECT_TRUE(std::filesystem::is_symlink(folder.path(name))) << name;
  EXPECT_EQ(folder.names(), (Names{"first.npy", "runs"}));
}

std::string target_fault(const std::vector<Argument>& targets,
                         const std::vector<Argument>& inputs) {
  try {
    check_targets(targets, inputs);
    return "";
  } catch (const Failure& failure) {
    return failure.message;
  }
}

TEST(Files, APlaceIsForOneTensor) {
  const Folder folder;
  const std::string x = folder.path("x.npy"), z = folder.path("z.npz");
  const std::string same = folder.path(".") + "/x.npy";
  EXPECT_EQ(target_fault({{"output", x}, {"lse", z}, {"weights", z}}, {{"query", z}}), "");
  EXPECT_EQ(target_fault({{"output", x}, {"lse", same}}, {}),
            "lse: '" + same + "' is where output lies");
  EXPECT_EQ(target_fault({{"output", x}}, {{"query", x}}),
            "output: '" + x + "' is where query lies");
  EXPECT_EQ(target_fault({{"output", z + ":a"}, {"lse", z + ":a.npy"}}, {}),
            "lse: '" + z + ":a.npy' is where output lies");
  EXPECT_EQ(
      target_fault({{"output", folder.path("no/x.npy")}}, {}),
      "output: '" + folder.path("no/x.npy") + "' cannot be written: No such file or directory");
  ASSERT_EQ(::symlink("x.npy", folder.path("link.npy").c_str()), 0);  // x.npy does not exist
  EXPECT_EQ(target_fault({{"output", x}, {"lse", folder.path("link.npy")}}, {}),
            "lse: '" + folder.path("link.npy") + "' is where output lies");
  ASSERT_EQ(::symlink("circle.npy", folder.path("circle.npy").c_str()), 0);
  EXPECT_EQ(target_fault({{"output", folder.path("circle.npy")}}, {}),
            "output: '" + folder.path("circle.npy") +
                "' cannot be written: Too many levels of symbolic links");
  std::filesystem::create_directory(x);
  EXPECT_EQ(target_fault({{"output", x}}, {}),
            "output: '" + x + "' cannot be written: Is a directory");
}

TEST(Files, AnArchiveGetsNoNameThatLeavesItsFolder) {
  const Folder folder;
  const std::string file = folder.path("x.npz:");
  for (const char* name : {"/x", "../x", "a/../../x", "a/.."})
    EXPECT_EQ(target_fault({{"output", file + name}}, {}),
              "output: '" + file + name + "' has a name that begins with / or has .. in it, " +
                  "which unpacking would write elsewhere");
  for (const char* name : {"a/x", "..x", "a../x", "a..b", "./x"})
    EXPECT_EQ(target_fault({{"output", file + name}}, {}), "") << name;
  // What an archive holds already may be read, and other formats do not unpack.
  EXPECT_EQ(target_fault({{"output", file + "x"}}, {{"query", file + "../x"}}), "");
  EXPECT_EQ(target_fault({{"output", folder.path("x.safetensors:../x")}}, {}), "");
}

}  // namespace
}  // namespace scaledot::cli::tests
