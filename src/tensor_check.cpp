#include "tensor_check.hpp"

#include "view.hpp"

namespace scaledot {

using Code = Status::Code;

bool is_empty(const Tensor& tensor) noexcept {
  for (int axis = 0; axis < tensor.rank; ++axis)
    if (tensor.extent[static_cast<std::size_t>(axis)] == 0) return true;
  return false;
}

Arguments arguments_of(const Tensor& query, const Tensor& key, const Tensor& value,
                       const Outputs& outputs, const Options& options) noexcept {
  Arguments arguments;
  const auto add = [&](const char* name, const Tensor& tensor, Role role) {
    arguments.each[arguments.count++] = {name, &tensor, role, {}};
  };
  add("output", outputs.output, Role::output);
  if (outputs.lse) add("lse", *outputs.lse, Role::lse);
  if (outputs.weights) add("weights", *outputs.weights, Role::weights);
  add("query", query, Role::input);
  add("key", key, Role::input);
  add("value", value, Role::input);
  if (options.mask) add("mask", *options.mask, Role::mask);
  if (options.bias) add("bias", *options.bias, Role::bias);
  return arguments;
}

namespace {

// The bytes between data and the lowest and the highest element: at most 0, at least 0.
Status span_of(const Argument& argument, Index& low, Index& high) noexcept {
  const Tensor& tensor = *argument.tensor;
  low = high = 0;
  Index elements = 1;
  for (int axis = 0; axis < tensor.rank; ++axis) {
    const auto a = static_cast<std::size_t>(axis);
    const Status overflow{Code::overflow, argument.name, "", axis, tensor.stride[a]};
    Index reach;
    if (__builtin_mul_overflow(elements, tensor.extent[a], &elements)) return overflow;
    if (__builtin_mul_overflow(tensor.extent[a] - 1, tensor.stride[a], &reach)) return overflow;
    if (__builtin_mul_overflow(reach, bytes_of(tensor.dtype), &reach)) return overflow;
    Index& end = reach < 0 ? low : high;
    if (__builtin_add_overflow(end, reach, &end)) return overflow;
  }
  return {};
}

}  // namespace

Status check_tensor(Argument& argument) noexcept {
  const Tensor& tensor = *argument.tensor;
  for (int axis = 0; axis < tensor.rank; ++axis) {
    const Index extent = tensor.extent[static_cast<std::size_t>(axis)];
    if (extent < 0) return {Code::extent, argument.name, "", axis, extent, 0};
  }
  if (is_empty(tensor)) return {};

  Index low, high;
  if (const Status status = span_of(argument, low, high); !status.ok()) return status;
  const auto data = reinterpret_cast<std::uintptr_t>(tensor.data);
  const Index size = bytes_of(tensor.dtype);
  if (data == 0) return {Code::null_data, argument.name};
  if (const Index over = static_cast<Index>(data % static_cast<std::uintptr_t>(size)); over != 0)
    return {Code::alignment, argument.name, "", -1, over, 0};
  const auto below = std::uintptr_t{0} - static_cast<std::uintptr_t>(low);
  const auto above = static_cast<std::uintptr_t>(high) + static_cast<std::uintptr_t>(size);
  if (below > data || above > UINTPTR_MAX - data)
    return {Code::overflow, argument.name, "", -1, below > data ? low : high};
  argument.addresses = {data - below, data + above};
  return {};
}

// Walks the axes from the smallest stride up: each must step over all that lies below it. A layout
// whose axes interleave without meeting is refused too; nobody is known to need one.
Status check_written(const Argument& argument) noexcept {
  const Tensor& tensor = *argument.tensor;
  if (is_empty(tensor)) return {};
  const auto size_of = [](Index stride) {
    return stride < 0 ? std::uint64_t{0} - static_cast<std::uint64_t>(stride)
                      : static_cast<std::uint64_t>(stride);
  };
  bool is_done[4] = {};
  std::uint64_t below = 0;  // elements between the lowest and the highest so far
  for (int round = 0; round < tensor.rank; ++round) {
    std::size_t next = 4;
    for (std::size_t a = 0; a < static_cast<std::size_t>(tensor.rank); ++a)
      if (!is_done[a] && (next == 4 || size_of(tensor.stride[a]) < size_of(tensor.stride[next])))
        next = a;
    is_done[next] = true;
    if (tensor.extent[next] <= 1) continue;
    const std::uint64_t stride = size_of(tensor.stride[next]);
    if (stride <= below)
      return {Code::stride,
              argument.name,
              "",
              static_cast<Index>(next),
              tensor.stride[next],
              static_cast<Index>(below) + 1};
    below += stride * static_cast<std::uint64_t>(tensor.extent[next] - 1);
  }
  return {};
}

Status check_overlaps(const Arguments& arguments, const Options& options) noexcept {
  struct Place {
    const char* name;
    Addresses addresses;
    bool is_written;
  };
  Place places[10];
  int count = 0;
  for (const Argument& argument : arguments)
    places[count++] = {argument.name, argument.addresses, argument.is_written()};
  const auto add = [&](const char* name, const void* data, std::size_t bytes, bool is_written) {
    const auto begin = reinterpret_cast<std::uintptr_t>(data);
    places[count++] = {name, {begin, begin + bytes}, is_written};
  };
  if (options.key_lengths)
    add("key_lengths", options.key_lengths->data(), options.key_lengths->size_bytes(), false);
  add("workspace", options.workspace.data(), options.workspace.size(), true);

  for (int i = 0; i < count; ++i)
    for (int j = i + 1; j < count; ++j) {
      const Place& a = places[i];
      const Place& b = places[j];
      if ((!a.is_written && !b.is_written) || !a.addresses.meets(b.addresses)) continue;
      return {Code::overlap, a.is_written ? a.name : b.name, a.is_written ? b.name : a.name};
    }
  return {};
}

}  // namespace scaledot
