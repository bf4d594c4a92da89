// Bytes that cost nothing until they are touched, so that a large output can be had before it is
// known whether the call is valid.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <span>

namespace scaledot::cli {

class Buffer {
 public:
  Buffer() = default;

  // All zero. Throws std::bad_alloc.
  explicit Buffer(std::size_t size) : size_(size) {
    if (size == 0) return;
    data_.reset(static_cast<std::byte*>(std::calloc(size, 1)));
    if (!data_) throw std::bad_alloc();
  }

  // Keeps what was there; bytes beyond it are undefined.
  void resize(std::size_t size) {
    if (size == 0) {
      data_.reset();
    } else {
      void* moved = std::realloc(data_.get(), size);
      if (moved == nullptr) throw std::bad_alloc();
      static_cast<void>(data_.release());
      data_.reset(static_cast<std::byte*>(moved));
    }
    size_ = size;
  }

  std::byte* data() { return data_.get(); }
  const std::byte* data() const { return data_.get(); }
  std::size_t size() const { return size_; }
  std::span<std::byte> bytes() { return {data_.get(), size_}; }
  std::span<const std::byte> bytes() const { return {data_.get(), size_}; }

 private:
  struct Free {
    void operator()(std::byte* data) const { std::free(data); }
  };

  std::unique_ptr<std::byte[], Free> data_;
  std::size_t size_ = 0;
};

}  // namespace scaledot::cli
