#include "input_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "failure.hpp"

namespace scaledot::cli {

namespace {

int open_to_read(const std::string& path) {
  // Without O_NONBLOCK a pipe would be waited for; a regular file does not care.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) refuse("cannot be opened: " + std::generic_category().message(errno));
  return descriptor;
}

}  // namespace

InputFile::InputFile(const std::string& path) : InputFile(open_to_read(path)) {}

InputFile::InputFile(int descriptor) : descriptor_(descriptor) {
  struct stat facts;
  const bool is_regular = ::fstat(descriptor_, &facts) == 0 && S_ISREG(facts.st_mode);
  if (is_regular) {
    size_ = static_cast<std::uint64_t>(facts.st_size);
    return;
  }
  ::close(descriptor_);
  refuse("is not a regular file");
}

InputFile::~InputFile() { ::close(descriptor_); }

void InputFile::read(std::uint64_t offset, std::span<std::byte> bytes) const {
  while (!bytes.empty()) {
    const ssize_t count =
        ::pread(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail_with_errno("cannot be read", errno);
    if (count == 0) refuse("is cut short");
    bytes = bytes.subspan(static_cast<std::size_t>(count));
    offset += static_cast<std::uint64_t>(count);
  }
}

}  // namespace scaledot::cli
