// What is read and written: every type in every format, and everything or nothing.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "file_bytes.hpp"
#include "tensor_file.hpp"

namespace scaledot::cli::tests {
namespace {

using Names = std::vector<std::string>;

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

TEST(Files, OtherTensorsKeepTheBytesOfTheirNames) {
  const Folder folder;
  const Array array = array_of(Element::f32, {}, little(1.0f));
  const Names kept{"control \1", "code page 437 \x82", "UTF-8 \xc3\xa9"};
  std::vector<ZipEntry> entries;
  for (const std::string& name : kept) entries.push_back(stored(name + ".npy", ""));
  const std::string file = folder.file("x.npz", zip(entries));
  write_arrays({{{"output", file}, &array}});
  const std::string bytes = bytes_of_file(file);
  for (const std::string& name : kept) {
    const std::size_t first = bytes.find(name + ".npy");
    ASSERT_NE(first, std::string::npos) << name;
    EXPECT_NE(bytes.find(name + ".npy", first + 1), std::string::npos) << name;  // in the directory
  }
}

TEST(Files, IfOneFailsNoneIsWritten) {
  const Folder folder;
  const Array array = array_of(Element::f32, {}, little(1.0f));
  for (const char* broken : {"z.npz", "z.safetensors", "no/z.npy"}) {
    if (std::string(broken).starts_with("z")) folder.file(broken, "broken");
    folder.file("a.npy", "as before");
    const std::string message = failure_of([&] {
      write_arrays({{{"output", folder.path("a.npy")}, &array},
                    {{"lse", folder.path("b.npz")}, &array},
                    {{"weights", folder.path(broken)}, &array}});
    });
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

// A temporary name that is longer than the file's would not fit where the file's does.
TEST(Files, ANameMayBeAsLongAsAnyFilesName) {
  const Folder folder;
  const Array array = array_of(Element::f32, {}, little(1.0f));
  constexpr std::size_t longest = 255;
  for (const std::string ending : {".npy", ".npz", ".safetensors"})
    for (const std::size_t length : {longest - 6, longest - 1, longest}) {
      const std::string name = std::string(length - ending.size(), 'x') + ending;
      for (int times = 0; times < 2; ++times)  // new, and replaced
        write_arrays({{{"output", folder.path(name)}, &array}});
      EXPECT_EQ(numbers_of<float>(read(folder.path(name))), std::vector<float>{1});
      EXPECT_EQ(folder.names(), Names{name});
      std::filesystem::remove(folder.path(name));
    }
}

}  // namespace
}  // namespace scaledot::cli::tests
