#include "pending_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "failure.hpp"
#include "file_place.hpp"

namespace scaledot::cli {

namespace {

[[noreturn]] void cannot_write(int error) { fail_with_errno("cannot be written", error); }

// What a new file would get, or what the one in its place has.
mode_t mode_for(const std::string& path) {
  struct stat facts;
  if (::stat(path.c_str(), &facts) == 0) return facts.st_mode & 07777;
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return 0666 & ~mask;
}

// libzip writes to the temporary name with as many more characters.
constexpr std::size_t longer_in_libzip = 7;

// Short, whatever the name: that may be as long as the file system allows.
std::string temporary_beside(const std::string& path) {
  return (std::filesystem::path(path).parent_path() / ".scaledot.XXXXXX").string();
}

}  // namespace

PendingFile::PendingFile(const std::string& path)
    : path_(followed(path)), temporary_(temporary_beside(path_)) {
  descriptor_ = ::mkostemp(temporary_.data(), O_CLOEXEC);
  if (descriptor_ < 0) cannot_write(errno);
}

PendingFile::PendingFile(PendingFile&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::exchange(other.temporary_, std::string())),
      descriptor_(std::exchange(other.descriptor_, -1)) {}

PendingFile::~PendingFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void PendingFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor_, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) cannot_write(errno);
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
}

void PendingFile::finish() {
  if (::close(std::exchange(descriptor_, -1)) != 0) cannot_write(errno);
  if (::chmod(temporary_.c_str(), mode_for(path_)) != 0) cannot_write(errno);
}

void PendingFile::commit() {
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) cannot_write(errno);
  temporary_.clear();
}

void check_writable(const std::string& path) {
  const std::string real = followed(path);
  struct stat facts;
  if (::stat(real.c_str(), &facts) == 0) {
    if (S_ISDIR(facts.st_mode)) cannot_write(EISDIR);
    if (!S_ISREG(facts.st_mode)) fail("is not a regular file");
    if (::access(real.c_str(), W_OK) != 0) cannot_write(errno);
  } else if (errno != ENOENT) {
    cannot_write(errno);  // links that lead in a circle, for one
  }
  const std::string folder = std::filesystem::path(real).parent_path().string();
  if (::access(folder.empty() ? "." : folder.c_str(), W_OK | X_OK) != 0) cannot_write(errno);
  if (temporary_beside(real).size() + longer_in_libzip >= PATH_MAX)
    fail("cannot be written: the path of its folder is too long for a temporary file in it");
}

}  // namespace scaledot::cli
