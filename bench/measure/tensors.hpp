// The four tensors of a shape, with memory of their own.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <span>
#include <vector>

#include "measure/shape.hpp"

namespace scaledot::measure {

// Memory on huge pages where the system has them. Throws std::bad_alloc.
class Memory {
 public:
  explicit Memory(std::size_t bytes);

  std::byte* data() const { return data_.get(); }
  std::size_t bytes() const { return bytes_; }

 private:
  struct Free {
    void operator()(std::byte* data) const { std::free(data); }
  };
  std::size_t bytes_;
  std::unique_ptr<std::byte, Free> data_;
};

class Tensors {
 public:
  // Query, key and value are standard normal numbers, the same ones in every run, rounded to the
  // shape's type. Throws std::bad_alloc if there is no memory for them.
  explicit Tensors(const Shape& shape);

  Status attend();

  // Makes every element of the output NaN, so that one which is not written is seen.
  void spoil_output();

  // What a kernel has to read of the keys and values that some query sees: one piece a tensor
  // and key head.
  std::vector<std::span<const std::byte>> seen_keys_and_values() const;

  const Shape& shape() const { return shape_; }
  Tensor query() const;
  Tensor key() const;
  Tensor value() const;
  Tensor output() const;
  std::span<std::byte> output_bytes() const { return {output_.data(), output_.bytes()}; }

 private:
  Shape shape_;
  Memory query_, key_, value_, output_;
};

// What attend() takes for the shape, but for its tensors.
Options options_of(const Shape& shape);

// Element n of memory of the type, widened.
double element(const std::byte* data, DType dtype, Index n);

}  // namespace scaledot::measure
