#include "file_fuzz.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

namespace scaledot::fuzz {

cli::InputFile file_of(const std::uint8_t* data, std::size_t size) {
  const int descriptor = ::memfd_create("fuzz", MFD_CLOEXEC);
  expect(descriptor >= 0, "a file in memory");
  expect(::write(descriptor, data, size) == static_cast<ssize_t>(size), "memory for the file");
  return cli::InputFile(descriptor);
}

cli::PendingFile scratch_file() {
  static const std::string path =
      (std::filesystem::temp_directory_path() / ("scaledot-fuzz-" + std::to_string(::getpid())))
          .string();
  return cli::PendingFile(path);
}

void expect(bool is_so, const char* what) {
  if (is_so) return;
  std::fprintf(stderr, "expected: %s\n", what);
  std::abort();
}

void expect_clear(const cli::Failure& failure) {
  const std::string& message = failure.message;
  expect(failure.code == cli::ExitCode::mistake, "a refusal is the user's mistake");
  expect(!message.empty() && message.size() < 2000, "a message of a line");
  expect(std::all_of(message.begin(), message.end(), [](char c) { return c >= ' ' && c < 127; }),
         "a message that can be printed");
}

void expect_whole(const cli::Array& array) {
  const auto bytes = cli::bytes_of(array.element, array.extents);
  expect(bytes && *bytes == array.data.size(), "as many bytes as the shape says");
}

void expect_same(const cli::Array& got, const cli::Array& expected) {
  expect(got.element == expected.element, "the same type");
  expect(got.extents == expected.extents, "the same shape");
  expect(got.order == expected.order, "the same order");
  expect(std::ranges::equal(got.data.bytes(), expected.data.bytes()), "the same elements");
}

}  // namespace scaledot::fuzz
