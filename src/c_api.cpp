// attention.h in terms of attention.hpp.
#include "scaledot/attention.h"

#include <cstddef>
#include <cstring>

#include "dispatch.hpp"
#include "scaledot/attention.hpp"
#include "scaledot/machine.hpp"

namespace scaledot {

namespace {

using Code = Status::Code;

static_assert(SCALEDOT_OUT_OF_MEMORY == static_cast<int>(Code::out_of_memory));

// What a struct's first version ended with: an older program passes no more.
template <class Struct>
constexpr std::size_t first_size = sizeof(Struct);
template <>
constexpr std::size_t first_size<scaledot_options> = offsetof(scaledot_options, parallel_for);

// A struct of the caller's, brought to this version's size: what an older header lacks is 0. One
// that is larger belongs to a newer header: what this version does not know must be 0. No version
// will need a page, so a size beyond one was never set.
template <class Struct>
Status read_struct(const char* name, const Struct* given, Struct& known) {
  std::memset(&known, 0, sizeof known);
  if (given == nullptr) return {Code::null_data, name};
  const auto size = static_cast<Index>(given->size), expected = static_cast<Index>(sizeof known);
  const bool is_first = given->size == first_size<Struct>;
  if ((given->size < sizeof known && !is_first) || given->size > 4096)
    return {Code::extent, name, "size", -1, size, expected};
  const auto* bytes = reinterpret_cast<const unsigned char*>(given);
  for (std::size_t b = sizeof known; b < given->size; ++b)
    if (bytes[b] != 0) return {Code::extent, name, "size", -1, size, expected};
  std::memcpy(&known, given, is_first ? first_size<Struct> : sizeof known);
  return {};
}

Status read_tensor(const char* name, const scaledot_tensor* given, Tensor& tensor) {
  scaledot_tensor known;
  if (const Status bad = read_struct(name, given, known); !bad.ok()) return bad;
  if (known.dtype < 0 || known.dtype > SCALEDOT_BOOLEAN) {
    const bool is_mask = std::strcmp(name, "mask") == 0;
    return {Code::dtype, name, "", -1, known.dtype, is_mask ? SCALEDOT_BOOLEAN : SCALEDOT_F32};
  }
  tensor.data = known.data;
  tensor.dtype = static_cast<DType>(known.dtype);
  tensor.rank = known.rank;
  for (std::size_t axis = 0; axis < 4; ++axis) {
    tensor.extent[axis] = known.extent[axis];
    tensor.stride[axis] = known.stride[axis];
  }
  return {};
}

Status read_optional(const char* name, const scaledot_tensor* given,
                     std::optional<Tensor>& tensor) {
  if (given == nullptr) return {};
  return read_tensor(name, given, tensor.emplace());
}

Status read_options(const scaledot_options* given, Options& options) {
  if (given == nullptr) return {};
  scaledot_options known;
  if (const Status bad = read_struct("options", given, known); !bad.ok()) return bad;
  if (known.scale != nullptr) options.scale = *known.scale;
  options.softcap = known.softcap;
  if (known.causal < 0 || known.causal > SCALEDOT_CAUSAL_BOTTOM_RIGHT)
    return {Code::option, "causal", "", -1, known.causal, 0};
  options.causal = static_cast<Causal>(known.causal);
  if (known.has_window != 0) options.window = {known.window_left, known.window_right};
  if (known.arithmetic < 0 || known.arithmetic > SCALEDOT_ARITHMETIC_BF16)
    return {Code::option, "arithmetic", "", -1, known.arithmetic, 0};
  options.arithmetic = static_cast<Arithmetic>(known.arithmetic);
  options.threads = known.threads;
  options.parallel_for = {known.parallel_for, known.parallel_for_context};
  if (known.reserved != 0) return {Code::option, "reserved", "", -1, known.reserved, 0};
  if (known.key_lengths != nullptr) {
    // A negative count stays one when check() looks at it, and is refused there.
    options.key_lengths.emplace(known.key_lengths,
                                static_cast<std::size_t>(known.key_lengths_count));
  }
  if (known.workspace != nullptr)
    options.workspace = {static_cast<std::byte*>(known.workspace), known.workspace_bytes};
  if (const Status bad = read_optional("mask", known.mask, options.mask); !bad.ok()) return bad;
  return read_optional("bias", known.bias, options.bias);
}

struct Call {
  Tensor query, key, value;
  Outputs outputs;
  Options options;
};

Status read_call(const scaledot_tensor* query, const scaledot_tensor* key,
                 const scaledot_tensor* value, const scaledot_outputs* outputs,
                 const scaledot_options* options, Call& call) {
  scaledot_outputs known;
  Status status = read_tensor("query", query, call.query);
  if (status.ok()) status = read_tensor("key", key, call.key);
  if (status.ok()) status = read_tensor("value", value, call.value);
  if (status.ok()) status = read_struct("outputs", outputs, known);
  if (status.ok()) status = read_tensor("output", known.output, call.outputs.output);
  if (status.ok()) status = read_optional("lse", known.lse, call.outputs.lse);
  if (status.ok()) status = read_optional("weights", known.weights, call.outputs.weights);
  if (status.ok()) status = read_options(options, call.options);
  return status;
}

std::int32_t write_status(const Status& status, scaledot_status* to) {
  const auto code = static_cast<std::int32_t>(status.code);
  if (to == nullptr) return code;
  scaledot_status full;
  std::memset(&full, 0, sizeof full);
  full.code = code;
  full.argument = status.argument;
  full.other = status.other;
  full.axis = status.axis;
  full.got = status.got;
  full.expected = status.expected;
  full.value = status.value;
  full.size = to->size;
  // A caller with an older, shorter struct gets the fields it knows.
  if (to->size > sizeof full.size)
    std::memcpy(to, &full, to->size < sizeof full ? to->size : sizeof full);
  return code;
}

}  // namespace

}  // namespace scaledot

using namespace scaledot;

int32_t scaledot_attend(const scaledot_tensor* query, const scaledot_tensor* key,
                        const scaledot_tensor* value, const scaledot_outputs* outputs,
                        const scaledot_options* options, scaledot_status* status) {
  Call call;
  const Status bad = read_call(query, key, value, outputs, options, call);
  if (!bad.ok()) return write_status(bad, status);
  return write_status(attend(call.query, call.key, call.value, call.outputs, call.options), status);
}

int32_t scaledot_workspace_bytes(const scaledot_tensor* query, const scaledot_tensor* key,
                                 const scaledot_tensor* value, const scaledot_outputs* outputs,
                                 const scaledot_options* options, size_t* bytes,
                                 scaledot_status* status) {
  Call call;
  Status result = read_call(query, key, value, outputs, options, call);
  if (result.ok() && bytes == nullptr) result = {Code::null_data, "bytes"};
  if (result.ok())
    result = workspace_bytes(call.query, call.key, call.value, call.outputs, call.options, *bytes);
  return write_status(result, status);
}

size_t scaledot_describe(const scaledot_status* status, char* buffer, size_t bytes) {
  if (buffer != nullptr && bytes > 0) buffer[0] = 0;
  scaledot_status full;
  std::memset(&full, 0, sizeof full);
  if (status != nullptr)
    std::memcpy(&full, status, status->size < sizeof full ? status->size : sizeof full);
  Status known;
  known.code = static_cast<Code>(full.code >= 0 && full.code < 255 ? full.code : 255);
  known.argument = full.argument == nullptr ? "" : full.argument;
  known.other = full.other == nullptr ? "" : full.other;
  known.axis = full.axis;
  known.got = full.got;
  known.expected = full.expected;
  known.value = full.value;
  try {
    const std::string sentence = describe(known);
    if (buffer != nullptr && bytes > 0) {
      const std::size_t length = sentence.size() < bytes ? sentence.size() : bytes - 1;
      std::memcpy(buffer, sentence.data(), length);
      buffer[length] = 0;
    }
    return sentence.size();
  } catch (...) {  // out of memory, which must not reach C
    return 0;
  }
}

void scaledot_release_memory(void) { release_memory(); }

const char* scaledot_isa(void) {
  const kernels::KernelTable* const table = table_in_use();
  return table == nullptr ? "none" : table->name;
}

const char* scaledot_version(void) { return version(); }
