// Memory between two pages that nobody may touch.
#pragma once

#include <cstddef>

namespace scaledot::tests {

// Where the bytes lie: from the first page's start on, or up to the last page's end.
enum class Edge { begin, end };

class Guarded {
 public:
  Guarded(std::size_t bytes, Edge edge);
  ~Guarded();
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;

  std::byte* data() const { return data_; }
  std::size_t size() const { return bytes_; }
  void forbid_writing();

 private:
  std::size_t bytes_ = 0, inner_ = 0;  // inner: bytes of the pages between the guards
  std::byte* mapping_ = nullptr;
  std::byte* data_ = nullptr;
};

std::size_t page_bytes();
// Nothing may touch the page that holds `address` any more.
void forbid_page(void* address);

// The line that is printed if the program dies of a forbidden access.
void replay_by(const char* line);

}  // namespace scaledot::tests
