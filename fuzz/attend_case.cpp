#include "attend_case.hpp"

#include <fuzzer/FuzzedDataProvider.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <utility>

namespace scaledot::fuzz {

namespace {

using Bytes = FuzzedDataProvider;

// One in `share`, and never once the bytes are used up, so that short inputs are plain calls.
bool rarely(Bytes& bytes, int share) {
  return bytes.ConsumeIntegralInRange<int>(0, share - 1) == share - 1;
}

DType number_type(Bytes& bytes) {
  return static_cast<DType>(bytes.ConsumeIntegralInRange<int>(0, 2));
}

struct Shape {
  Index batch, key_heads, group, queries, keys, head_dim, value_dim;

  Index heads() const { return key_heads * group; }
};

Shape make_shape(Bytes& bytes) {
  Shape shape;
  shape.batch = bytes.ConsumeIntegralInRange<Index>(0, 2);
  shape.key_heads = bytes.ConsumeIntegralInRange<Index>(0, 3);
  shape.group = bytes.ConsumeIntegralInRange<Index>(1, 3);
  shape.queries = bytes.ConsumeIntegralInRange<Index>(0, 40);
  shape.keys = bytes.ConsumeIntegralInRange<Index>(0, 300);
  shape.head_dim = bytes.ConsumeIntegralInRange<Index>(0, 40);
  shape.value_dim = bytes.ConsumeIntegralInRange<Index>(0, 40);
  if (rarely(bytes, 8)) shape.keys += 1000;  // more than a split
  constexpr Index most = 200'000;            // multiplications, to keep a call within milliseconds
  while (std::max<Index>(shape.batch * shape.heads(), 1) * shape.queries * shape.keys *
             (shape.head_dim + shape.value_dim) >
         most)
    (shape.queries > 4 ? shape.queries : shape.keys) /= 2;
  return shape;
}

// The last `rank` of the extents, in an order of memory of its own, with gaps and turned axes.
enum class Stride0 { never, sometimes };
Tensor make_tensor(Bytes& bytes, DType dtype, std::initializer_list<Index> extents, int rank,
                   Stride0 stride_0) {
  Tensor tensor;
  tensor.dtype = dtype;
  tensor.rank = rank;
  std::copy(extents.end() - rank, extents.end(), tensor.extent.begin());
  std::array<std::size_t, 4> axes{};
  for (std::size_t axis = 0; axis < axes.size(); ++axis) axes[axis] = axis;
  std::reverse(axes.begin(), axes.begin() + rank);
  if (rank > 1 && rarely(bytes, 3))
    std::swap(
        axes[0],
        axes[bytes.ConsumeIntegralInRange<std::size_t>(1, static_cast<std::size_t>(rank) - 1)]);
  Index step = 1;
  for (int i = 0; i < rank; ++i) {
    const std::size_t axis = axes[static_cast<std::size_t>(i)];
    if (rarely(bytes, 4)) step += bytes.ConsumeIntegralInRange<Index>(1, 3);
    tensor.stride[axis] = rarely(bytes, 5) ? -step : step;
    step *= std::max<Index>(tensor.extent[axis], 1);
    if (stride_0 == Stride0::sometimes && rarely(bytes, 8)) tensor.stride[axis] = 0;
  }
  // A mistake: a stride by which an output's elements may coincide.
  if (rank > 0 && rarely(bytes, 40))
    tensor
        .stride[bytes.ConsumeIntegralInRange<std::size_t>(0, static_cast<std::size_t>(rank) - 1)] =
        bytes.ConsumeIntegralInRange<Index>(-5, 5);
  return tensor;
}

// Which numbers beside the usual ones there are.
enum class Special { zero, not_a_number, infinite };

// Numbers in [2^-12, 2^8) with a random sign, and a few special ones.
void fill(Bytes& bytes, Room& room, Special most_special) {
  const DType dtype = room.tensor.dtype;
  if (dtype == DType::boolean) {
    const int hidden_of_8 = bytes.ConsumeIntegralInRange<int>(0, 8);
    auto state = bytes.ConsumeIntegral<std::uint32_t>();
    for (std::size_t i = 0; i < room.bytes; ++i) {
      state = state * 1664525 + 1013904223;
      room.memory[i] = static_cast<std::byte>(static_cast<int>(state >> 29) >= hidden_of_8);
    }
    return;
  }
  const int fraction_bits = dtype == DType::f32 ? 23 : dtype == DType::f16 ? 10 : 7;
  const std::uint32_t exponent_mask = dtype == DType::f16 ? 0x1f : 0xff;
  const std::uint32_t zero_exponent = exponent_mask / 2;
  const auto low = bytes.ConsumeIntegralInRange<std::uint32_t>(0, 16);
  const auto span = bytes.ConsumeIntegralInRange<std::uint32_t>(1, 4);
  const bool is_special = rarely(bytes, 2);
  auto state = bytes.ConsumeIntegral<std::uint64_t>();
  const std::size_t size = element_bytes(dtype);
  for (std::size_t at = 0; at < room.bytes; at += size) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const auto random = static_cast<std::uint32_t>(state >> 32);
    const std::uint32_t fraction_mask = (1u << fraction_bits) - 1;
    std::uint32_t exponent = zero_exponent - 12 + low + (random >> 23) % span;
    std::uint32_t fraction = random & fraction_mask;
    if (is_special && state % 64 == 1) {
      const std::uint32_t kind = (random >> 25) % 4;
      exponent = 0;  // a denormal number, or 0
      if (kind == 1) fraction = 0;
      if (kind == 2 && most_special >= Special::not_a_number) exponent = exponent_mask;
      if (kind == 3 && most_special == Special::infinite) exponent = exponent_mask, fraction = 0;
    }
    const std::uint32_t sign = random >> 31;
    const std::uint32_t bits = (sign * (exponent_mask + 1) + exponent) << fraction_bits | fraction;
    std::memcpy(room.memory.get() + at, &bits, size);
  }
}

Room make_input(Bytes& bytes, const Tensor& tensor, Special most_special) {
  Room room = room_for(tensor, std::byte{0});
  fill(bytes, room, most_special);
  return room;
}

// Broadcast in some axes.
Room make_pairs(Bytes& bytes, DType dtype, const Shape& shape) {
  const int rank = bytes.ConsumeIntegralInRange<int>(0, 4);
  const auto extent = [&](Index whole) { return rarely(bytes, 3) ? Index{1} : whole; };
  const Index batch = extent(shape.batch), heads = extent(shape.heads());
  const Index queries = extent(shape.queries), keys = extent(shape.keys);
  return make_input(
      bytes, make_tensor(bytes, dtype, {batch, heads, queries, keys}, rank, Stride0::sometimes),
      Special::infinite);
}

void make_options(Bytes& bytes, const Shape& shape, Case& made) {
  Options& options = made.options;
  options.causal = static_cast<Causal>(bytes.ConsumeIntegralInRange<int>(0, 2));
  options.arithmetic = static_cast<Arithmetic>(bytes.ConsumeIntegralInRange<int>(0, 2));
  options.threads = bytes.ConsumeIntegralInRange<int>(1, 3);
  constexpr float infinity = std::numeric_limits<float>::infinity();
  if (rarely(bytes, 2))
    options.scale = bytes.PickValueInArray({1.0f, 0.0f, -0.5f, 0.01f, 30.0f, 1e30f, 1e-40f, 2e38f,
                                            infinity, std::numeric_limits<float>::quiet_NaN()});
  if (rarely(bytes, 4))
    options.softcap = bytes.PickValueInArray({30.0f, 1.0f, 1e-30f, 1e30f, -1.0f, infinity});
  if (rarely(bytes, 4)) {
    options.window.left = bytes.ConsumeIntegralInRange<Index>(-2, shape.keys);
    options.window.right = bytes.ConsumeIntegralInRange<Index>(-2, shape.keys);
  }
  if (rarely(bytes, 4)) {
    for (Index b = 0; b < shape.batch; ++b)
      made.key_lengths.push_back(bytes.ConsumeIntegralInRange<Index>(0, shape.keys));
    if (rarely(bytes, 16)) made.key_lengths.push_back(-1);
    options.key_lengths = made.key_lengths;
  }
  if (rarely(bytes, 3)) {
    made.mask = make_pairs(bytes, DType::boolean, shape);
    options.mask = made.mask->tensor;
  }
  if (rarely(bytes, 3)) {
    made.bias = make_pairs(bytes, number_type(bytes), shape);
    options.bias = made.bias->tensor;
  }
}

// One thing that a caller can get wrong in a tensor, without reaching beyond its memory.
void spoil(Bytes& bytes, Tensor& tensor) {
  const auto axis = bytes.ConsumeIntegralInRange<std::size_t>(0, 3);
  switch (bytes.ConsumeIntegralInRange<int>(0, 5)) {
    case 0:
      tensor.extent[axis] -= 1;
      break;
    case 1:
      tensor.rank = bytes.ConsumeIntegralInRange<int>(-1, 5);
      break;
    case 2:
      tensor.dtype = static_cast<DType>(bytes.ConsumeIntegralInRange<int>(3, 5));
      break;
    case 3:
      tensor.data = nullptr;
      break;
    case 4:
      tensor.stride[axis] = std::numeric_limits<Index>::max() / 2 + 1;
      break;
    default:
      tensor.data = static_cast<std::byte*>(tensor.data) + 1;
  }
}

}  // namespace

void make_case(const std::uint8_t* data, std::size_t size, Case& made) {
  Bytes bytes(data, size);
  const Shape shape = make_shape(bytes);
  const int least_rank = shape.batch != 1 ? 4 : shape.key_heads != 1 ? 3 : 2;
  const int rank = bytes.ConsumeIntegralInRange<int>(std::min(least_rank, 4), 4);
  const Index group = rank == 2 ? 1 : shape.group;
  const Index heads = shape.key_heads * group;
  const DType dtype = number_type(bytes);
  const bool is_mixed = rarely(bytes, 3);
  const auto type = [&] { return is_mixed ? number_type(bytes) : dtype; };
  const auto input = [&](Index h, Index positions, Index dim, Special most_special) {
    const Tensor tensor =
        make_tensor(bytes, type(), {shape.batch, h, positions, dim}, rank, Stride0::sometimes);
    return make_input(bytes, tensor, most_special);
  };
  made.query = input(heads, shape.queries, shape.head_dim, Special::infinite);
  made.key = input(shape.key_heads, shape.keys, shape.head_dim, Special::infinite);
  // An infinite value is outside the promise of equal bits: 0 * inf is NaN, a flushed 0 or not.
  made.value = input(shape.key_heads, shape.keys, shape.value_dim, Special::not_a_number);
  Shape used = shape;
  used.group = group;
  make_options(bytes, used, made);
  made.output = make_tensor(bytes, type(), {shape.batch, heads, shape.queries, shape.value_dim},
                            rank, Stride0::never);
  if (rarely(bytes, 2))
    made.lse = make_tensor(bytes, DType::f32, {shape.batch, heads, shape.queries}, rank - 1,
                           Stride0::never);
  if (rarely(bytes, 3))
    made.weights = make_tensor(bytes, type(), {shape.batch, heads, shape.queries, shape.keys}, rank,
                               Stride0::never);
  constexpr float largest_value = 0x1p10f;
  made.ignored_below = static_cast<float>(shape.keys + 1) * largest_value * 0x1p-100f;
  if (!rarely(bytes, 12)) return;
  Tensor* const spoilt[] = {&made.query.tensor, &made.key.tensor, &made.value.tensor};
  spoil(bytes, *bytes.PickValueInArray(spoilt));
}

}  // namespace scaledot::fuzz
