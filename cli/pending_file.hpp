// A file that is written under a temporary name beside its own and takes its own name only when
// everything is there, so that an error leaves what was there before. What it throws is a message
// to be read after the name of the file: "cannot be written: No space left on device".
#pragma once

#include <span>
#include <string>

namespace scaledot::cli {

class PendingFile {
 public:
  // `path` may exist; a link is followed, also one whose target does not exist yet.
  explicit PendingFile(const std::string& path);
  ~PendingFile();  // removes the temporary file unless commit() was called
  PendingFile(PendingFile&& other) noexcept;
  PendingFile& operator=(PendingFile&&) = delete;

  const std::string& temporary_path() const { return temporary_; }

  void write(std::span<const std::byte> bytes);

  // After the last write: of several files all are finished before the first is committed.
  void finish();

  // Gives the file its own name.
  void commit();

 private:
  std::string path_, temporary_;
  int descriptor_ = -1;
};

// Throws what can be known about writing to `path` beforehand.
void check_writable(const std::string& path);

}  // namespace scaledot::cli
