// The names that a caller gives: what they mean, and where a result may go.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <filesystem>
#include <string_view>

#include "file_bytes.hpp"
#include "tensor_file.hpp"

namespace scaledot::cli::tests {
namespace {

std::string name_fault(const std::string& text) {
  return failure_of([&] { parse_tensor_name(text); });
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

std::string target_fault(const std::vector<Argument>& targets,
                         const std::vector<Argument>& inputs) {
  return failure_of([&] { check_targets(targets, inputs); });
}

TEST(Files, APlaceIsForOneTensor) {
  const Folder folder;
  const std::string x = folder.path("x.npy"), z = folder.path("z.npz");
  const std::string same = folder.path(".") + "/x.npy";
  folder.file("z.npz", zip({stored("query.npy", "")}));
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

// Makes folders in the folder whose path has so many bytes, the last slash included.
std::string folder_of_length(const Folder& folder, std::size_t length) {
  std::string path = std::filesystem::canonical(folder.path("")).string() + "/";
  while (path.size() < length) {
    const std::size_t left = length - path.size();
    path += std::string(left <= 201 ? left - 1 : std::min<std::size_t>(200, left - 3), 'x') + "/";
  }
  std::filesystem::create_directories(path);
  return path;
}

TEST(Files, AFolderNeedsRoomForATemporaryFile) {
  const Folder folder;
  constexpr std::size_t longest = PATH_MAX - 1 - std::string_view(".scaledot.XXXXXX.XXXXXX").size();
  const Array array = array_of(Element::f32, {}, little(1.0f));
  for (const char* name : {"x.npy", "x.npz", "x.safetensors"}) {
    const std::string file = folder_of_length(folder, longest) + name;
    EXPECT_EQ(target_fault({{"output", file}}, {}), "");
    for (int times = 0; times < 2; ++times)  // new, and replaced
      write_arrays({{{"output", file}, &array}});
    EXPECT_EQ(numbers_of<float>(read(file)), std::vector<float>{1});
    const std::string beyond = folder_of_length(folder, longest + 1) + name;
    const std::string fault = target_fault({{"output", beyond}}, {});
    EXPECT_TRUE(fault.ends_with("the path of its folder is too long for a temporary file in it"))
        << fault;
  }
}

// Works in the folder until it goes.
class WorkingFolder {
 public:
  explicit WorkingFolder(const std::string& path) : before_(::open(".", O_RDONLY | O_DIRECTORY)) {
    EXPECT_EQ(::chdir(path.c_str()), 0);
  }
  ~WorkingFolder() {
    EXPECT_EQ(::fchdir(before_), 0);
    ::close(before_);
  }
  WorkingFolder(const WorkingFolder&) = delete;
  WorkingFolder& operator=(const WorkingFolder&) = delete;

 private:
  int before_;
};

TEST(Files, ANewFileIsOneWhicheverWayItIsWritten) {
  const Folder folder;
  const WorkingFolder working(folder.path(""));
  const Array one = array_of(Element::f32, {}, little(1.0f));
  const Array two = array_of(Element::f32, {}, little(2.0f));
  std::filesystem::create_directory("a");
  ASSERT_EQ(::symlink("a", "b"), 0);
  EXPECT_EQ(target_fault({{"output", "x.npy"}, {"lse", "./x.npy"}}, {}),
            "lse: './x.npy' is where output lies");
  EXPECT_EQ(target_fault({{"output", "a/x.npy"}, {"lse", "b/../a/../b/x.npy"}}, {}),
            "lse: 'b/../a/../b/x.npy' is where output lies");
  EXPECT_EQ(target_fault({{"output", "x.npy"}, {"lse", "a/x.npy"}}, {}), "");
  write_arrays({{{"output", "x.npz"}, &one}, {{"lse", "./x.npz"}, &two}});
  EXPECT_EQ(numbers_of<float>(read("x.npz:output")), std::vector<float>{1});
  EXPECT_EQ(numbers_of<float>(read("x.npz:lse")), std::vector<float>{2});
}

TEST(Files, TheWorkingFolderNeedsNoPathOfItsOwn) {
  const Folder folder;
  const WorkingFolder working(folder.path(""));
  const std::string name(200, 'x');
  for (std::size_t length = 0; length <= PATH_MAX; length += name.size() + 1) {
    ASSERT_EQ(::mkdir(name.c_str(), 0700), 0);
    ASSERT_EQ(::chdir(name.c_str()), 0);
  }
  const Array array = array_of(Element::f32, {}, little(1.0f));
  ASSERT_EQ(::symlink("x.npy", "link.npy"), 0);
  for (const char* file : {"x.npy", "./link.npy", "x.npz", "x.safetensors"})
    for (int times = 0; times < 2; ++times) {  // new, and replaced
      EXPECT_EQ(target_fault({{"output", file}}, {}), "");
      write_arrays({{{"output", file}, &array}});
      EXPECT_EQ(numbers_of<float>(read(file)), std::vector<float>{1});
    }
  EXPECT_TRUE(std::filesystem::is_symlink("link.npy"));
  EXPECT_EQ(target_fault({{"output", "link.npy"}}, {{"query", "x.npy"}}),
            "output: 'link.npy' is where query lies");
}

TEST(Files, TheOnlyTensorOfAFileIsReadWithoutItsNameAndNotReplaced) {
  const Folder folder;
  const Array array = array_of(Element::f32, {}, little(1.0f));
  for (const char* name : {"one.npz", "one.safetensors"}) {
    const std::string file = folder.path(name);
    write_arrays({{{"output", file + ":x"}, &array}});
    EXPECT_EQ(target_fault({{"output", file + ":x"}}, {{"query", file}}),
              "output: '" + file + ":x' is where query lies");
    EXPECT_EQ(target_fault({{"output", file}}, {{"query", file}}), "");
    EXPECT_EQ(target_fault({{"output", file + ":query"}}, {{"query", file}}), "");
  }
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

TEST(Files, ANameThatAFileCannotHoldIsRefusedBeforehand) {
  const Folder folder;
  const std::string archive = folder.path("x.npz:"), tensors = folder.path("x.safetensors:");
  const auto fault = [](const std::string& file, const std::string& name) {
    const std::string message = target_fault({{"output", file + name}}, {});
    return message.substr(std::min(message.find("' ") + 1, message.size()));
  };
  for (const char* name : {"a\xff", "a\xc3", "\xed\xa0\x80", "\xc0\x80"})
    for (const std::string& file : {archive, tensors})
      EXPECT_EQ(fault(file, name), " has a name that is not UTF-8") << name;
  for (const char* name : {"a\1", "a\nb", "\x7f"})
    EXPECT_EQ(fault(archive, name), " has a name with control characters, which archives lose");
  EXPECT_EQ(fault(tensors, "a\1"), "");
  EXPECT_EQ(fault(archive, std::string(65532, 'a')),
            " has a name of 65536 bytes with .npy, expected at most 65535");
  const std::string longest = archive + std::string(65531, 'a'), other = archive + "\xc3\xa9";
  const Array array = array_of(Element::f32, {}, little(1.0f));
  for (const std::string& file : {longest, other}) {
    EXPECT_EQ(target_fault({{"output", file}}, {}), "");
    write_arrays({{{"output", file}, &array}});
    EXPECT_EQ(numbers_of<float>(read(file)), std::vector<float>{1});
  }
}

}  // namespace
}  // namespace scaledot::cli::tests
