#include "measure/tensors.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <new>
#include <random>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "float16.hpp"

namespace scaledot::measure {

namespace {

constexpr std::size_t huge_page = std::size_t{2} << 20;
constexpr std::size_t cache_line = 64;

std::size_t bytes_of(const Shape& shape, Index heads, Index positions, Index dim) {
  std::size_t bytes = static_cast<std::size_t>(element_bytes(shape.dtype));
  for (const Index extent : {shape.batch, heads, positions, dim})
    if (extent < 0 || __builtin_mul_overflow(bytes, static_cast<std::size_t>(extent), &bytes))
      throw std::bad_alloc();
  return bytes;
}

void fill_normal(const Memory& memory, DType dtype, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<float> normal;
  const auto count = memory.bytes() / static_cast<std::size_t>(element_bytes(dtype));
  auto* floats = reinterpret_cast<float*>(memory.data());
  auto* halves = reinterpret_cast<std::uint16_t*>(memory.data());
  for (std::size_t n = 0; n < count; ++n) {
    const float number = normal(random);
    if (dtype == DType::f32) floats[n] = number;
    if (dtype == DType::f16) halves[n] = f16_of_f32(number);
    if (dtype == DType::bf16) halves[n] = bf16_of_f32(number);
  }
}

}  // namespace

Memory::Memory(std::size_t bytes) : bytes_(bytes) {
  const std::size_t align = bytes < huge_page ? cache_line : huge_page;
  if (bytes > std::numeric_limits<std::size_t>::max() - align) throw std::bad_alloc();
  const std::size_t whole = (bytes / align + 1) * align;
  data_.reset(static_cast<std::byte*>(std::aligned_alloc(align, whole)));
  if (data_ == nullptr) throw std::bad_alloc();
#if defined(__linux__)
  if (align == huge_page) madvise(data_.get(), whole, MADV_HUGEPAGE);
#endif
}

Tensors::Tensors(const Shape& shape)
    : shape_(shape),
      query_(bytes_of(shape, shape.heads, shape.queries, shape.head_dim)),
      key_(bytes_of(shape, shape.key_heads, shape.keys, shape.head_dim)),
      value_(bytes_of(shape, shape.key_heads, shape.keys, shape.value_dim)),
      output_(bytes_of(shape, shape.heads, shape.queries, shape.value_dim)) {
  fill_normal(query_, shape.dtype, 1);
  fill_normal(key_, shape.dtype, 2);
  fill_normal(value_, shape.dtype, 3);
  spoil_output();
}

void Tensors::spoil_output() {
  std::memset(output_.data(), 0xFF, output_.bytes());  // a NaN in every type
}

Tensor Tensors::query() const {
  return contiguous(query_.data(), shape_.dtype,
                    {shape_.batch, shape_.heads, shape_.queries, shape_.head_dim});
}

Tensor Tensors::key() const {
  return contiguous(key_.data(), shape_.dtype,
                    {shape_.batch, shape_.key_heads, shape_.keys, shape_.head_dim});
}

Tensor Tensors::value() const {
  return contiguous(value_.data(), shape_.dtype,
                    {shape_.batch, shape_.key_heads, shape_.keys, shape_.value_dim});
}

Tensor Tensors::output() const {
  return contiguous(output_.data(), shape_.dtype,
                    {shape_.batch, shape_.heads, shape_.queries, shape_.value_dim});
}

Status Tensors::attend() {
  Outputs outputs;
  outputs.output = output();
  return scaledot::attend(query(), key(), value(), outputs, options_of(shape_));
}

std::vector<std::span<const std::byte>> Tensors::seen_keys_and_values() const {
  const Seen seen = seen_by_any(shape_);
  std::vector<std::span<const std::byte>> pieces;
  const auto add = [&](const Memory& memory, Index dim) {
    const Index row = dim * element_bytes(shape_.dtype);
    for (Index head = 0; head < shape_.batch * shape_.key_heads; ++head)
      pieces.emplace_back(memory.data() + (head * shape_.keys + seen.begin) * row,
                          static_cast<std::size_t>((seen.end - seen.begin) * row));
  };
  add(key_, shape_.head_dim);
  add(value_, shape_.value_dim);
  return pieces;
}

Options options_of(const Shape& shape) {
  Options options;
  options.causal = shape.causal;
  options.window = shape.window;
  options.arithmetic = shape.arithmetic;
  options.threads = shape.threads;
  return options;
}

double element(const std::byte* data, DType dtype, Index n) {
  if (dtype == DType::f32) return reinterpret_cast<const float*>(data)[n];
  const std::uint16_t bits = reinterpret_cast<const std::uint16_t*>(data)[n];
  return dtype == DType::f16 ? f32_of_f16(bits) : f32_of_bf16(bits);
}

}  // namespace scaledot::measure
