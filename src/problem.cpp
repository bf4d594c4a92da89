#include "problem.hpp"

#include <cmath>
#include <limits>

#include "tensor_check.hpp"

namespace scaledot {

using Code = Status::Code;

namespace {

constexpr double log2_e = 1.4426950408889634;
constexpr Index far_away = Index{1} << 61;  // further than any two positions, and safe to add
constexpr Index most_positions = Index{1} << 60;

// The extent of an axis counted from the right: 0 is dim, 3 is batch. Missing axes have 1.
Index extent_of(const Tensor& tensor, int from_right) {
  return from_right < tensor.rank
             ? tensor.extent[static_cast<std::size_t>(tensor.rank - 1 - from_right)]
             : 1;
}

View view_of(const Tensor& tensor) {
  View view{is_empty(tensor) ? nullptr : static_cast<std::byte*>(tensor.data), tensor.dtype, {}};
  for (int axis = 0; axis < tensor.rank; ++axis) {
    const auto a = static_cast<std::size_t>(axis);
    view.stride[static_cast<std::size_t>(4 - tensor.rank) + a] =
        tensor.extent[a] == 1 ? 0 : tensor.stride[a];
  }
  return view;
}

Status bad_option(const char* name, Index got, Index expected, Index entry = -1) {
  return {Code::option, name, "", entry, got, expected};
}

Status bad_number(const char* name, float value) {
  return {Code::option, name, "", -1, 0, 0, value};
}

// One call, checked step by step; a step may rely on the ones before it.
struct Check {
  const Tensor& query;
  const Tensor& key;
  const Tensor& value;
  const Outputs& outputs;
  const Options& options;
  Problem& problem;
  Arguments arguments = arguments_of(query, key, value, outputs, options);

  // An axis counted from the right must be as long as `other` says.
  static Status extent(const Argument& argument, int from_right, const char* other,
                       Index expected) {
    const Index got = extent_of(*argument.tensor, from_right);
    if (got == expected) return {};
    return {Code::extent, argument.name, other, argument.tensor->rank - 1 - from_right,
            got,          expected};
  }

  Status ranks() {
    if (query.rank < 2 || query.rank > 4)
      return {Code::rank, "query", "", -1, query.rank, query.rank < 2 ? 2 : 4};
    for (const auto& [name, tensor, role, addresses] : arguments) {
      const Index got = tensor->rank;
      if (role == Role::mask || role == Role::bias) {
        if (got < 0 || got > 4) return {Code::rank, name, "", -1, got, got < 0 ? 0 : 4};
        continue;
      }
      const Index expected = role == Role::lse ? query.rank - 1 : query.rank;
      if (got != expected) return {Code::rank, name, "query", -1, got, expected};
    }
    return {};
  }

  Status types() {
    for (const auto& [name, tensor, role, addresses] : arguments) {
      const DType got = tensor->dtype;
      const bool is_right = role == Role::mask  ? got == DType::boolean
                            : role == Role::lse ? got == DType::f32
                                                : got < DType::boolean;
      const DType expected = role == Role::mask ? DType::boolean : DType::f32;
      if (!is_right)
        return {Code::dtype, name, "", -1, static_cast<Index>(got), static_cast<Index>(expected)};
    }
    return {};
  }

  Status tensors() {
    for (Argument& argument : arguments) {
      if (const Status bad = check_tensor(argument); !bad.ok()) return bad;
      if (!argument.is_written()) continue;
      if (const Status bad = check_written(argument); !bad.ok()) return bad;
    }
    return {};
  }

  Status extents() {
    problem.batch = extent_of(query, 3);
    problem.query_heads = extent_of(query, 2);
    problem.queries = extent_of(query, 1);
    problem.key_heads = extent_of(key, 2);
    problem.keys = extent_of(key, 1);
    problem.constants.head_dim = extent_of(query, 0);
    problem.constants.value_dim = extent_of(value, 0);

    const Index heads = problem.key_heads;
    const Index rest = heads == 0 ? problem.query_heads : problem.query_heads % heads;
    if (rest != 0) {
      const Index down = problem.query_heads - rest;
      const bool is_up = rest > heads - rest && down <= std::numeric_limits<Index>::max() - heads;
      const Index nearest = larger(down + (is_up ? heads : 0), heads);
      return {Code::extent, "query", "key", query.rank - 3, problem.query_heads, nearest};
    }
    problem.group = heads == 0 ? 1 : larger(problem.query_heads / heads, 1);

    struct Wanted {
      Argument argument;
      int from_right;
      const char* other;
      Index extent;
    };
    const Wanted wanted[] = {
        {{"key", &key}, 3, "query", problem.batch},
        {{"key", &key}, 0, "query", problem.constants.head_dim},
        {{"value", &value}, 3, "query", problem.batch},
        {{"value", &value}, 2, "key", problem.key_heads},
        {{"value", &value}, 1, "key", problem.keys},
        {{"output", &outputs.output}, 3, "query", problem.batch},
        {{"output", &outputs.output}, 2, "query", problem.query_heads},
        {{"output", &outputs.output}, 1, "query", problem.queries},
        {{"output", &outputs.output}, 0, "value", problem.constants.value_dim},
    };
    for (const Wanted& each : wanted)
      if (const Status status = extent(each.argument, each.from_right, each.other, each.extent);
          !status.ok())
        return status;
    if (problem.queries > most_positions)
      return {Code::overflow, "query", "", query.rank - 2, problem.queries};
    if (problem.keys > most_positions)
      return {Code::overflow, "key", "", key.rank - 2, problem.keys};
    return {};
  }

  // lse and weights have the logits' shape, without and with keys; mask and bias broadcast to it.
  Status logits_shapes() {
    const Index shape[] = {problem.keys, problem.queries, problem.query_heads, problem.batch};
    for (const Argument& argument : arguments) {
      if (argument.role == Role::output || argument.role == Role::input) continue;
      const bool broadcasts = argument.role == Role::mask || argument.role == Role::bias;
      const int missing = argument.role == Role::lse ? 1 : 0;
      for (int axis = 0; axis < argument.tensor->rank; ++axis) {
        if (broadcasts && extent_of(*argument.tensor, axis) == 1) continue;
        const int of = axis + missing;
        const Status status = extent(argument, axis, of == 0 ? "key" : "query", shape[of]);
        if (!status.ok()) return status;
      }
    }
    return {};
  }

  Status scaling() {
    kernels::Constants& constants = problem.constants;
    const float scale = options.scale.value_or(
        constants.head_dim == 0
            ? 1.0f
            : static_cast<float>(1 / std::sqrt(static_cast<double>(constants.head_dim))));
    constants.scale = static_cast<float>(double{scale} * log2_e);
    if (!std::isfinite(scale) || !std::isfinite(constants.scale)) return bad_number("scale", scale);
    const float cap = options.softcap;
    if (!std::isfinite(cap) || cap < 0) return bad_number("softcap", cap);
    if (cap == 0) return {};
    // Both must be normal numbers, or the cap would turn every logit into 0 or infinity.
    const double lowest = std::numeric_limits<float>::min();
    const double ratio = double{scale} / cap, product = double{cap} * log2_e;
    const bool vanishes = std::fabs(scale) >= lowest && std::fabs(ratio) < lowest;
    constants.scale = static_cast<float>(ratio);
    constants.softcap = static_cast<float>(product);
    if (vanishes || !std::isfinite(constants.scale) || !std::isfinite(constants.softcap) ||
        constants.softcap < static_cast<float>(lowest))
      return bad_number("softcap", cap);
    return {};
  }

  Status arithmetic() {
    const bool all_bf16 =
        query.dtype == DType::bf16 && key.dtype == DType::bf16 && value.dtype == DType::bf16;
    switch (options.arithmetic) {
      case Arithmetic::automatic:
        problem.bf16 = all_bf16;
        return {};
      case Arithmetic::f32:
        problem.bf16 = false;
        return {};
      case Arithmetic::bf16:
        break;
      default:
        return bad_option("arithmetic", static_cast<Index>(options.arithmetic), 0);
    }
    problem.bf16 = true;
    for (const Argument& argument :
         {Argument{"query", &query}, Argument{"key", &key}, Argument{"value", &value}})
      if (argument.tensor->dtype != DType::bf16)
        return {Code::dtype,
                argument.name,
                "arithmetic",
                -1,
                static_cast<Index>(argument.tensor->dtype),
                static_cast<Index>(DType::bf16)};
    return {};
  }

  Status positions() {
    if (options.causal > Causal::bottom_right)
      return bad_option("causal", static_cast<Index>(options.causal), 0);
    const Window& window = options.window;
    if (window.left < unlimited) return bad_option("window.left", window.left, unlimited);
    if (window.right < unlimited) return bad_option("window.right", window.right, unlimited);
    const auto reach = [](Index side) {
      return side == unlimited ? far_away : smaller(side, far_away);
    };
    problem.causal = options.causal;
    problem.left = reach(window.left);
    problem.right = options.causal == Causal::off ? reach(window.right) : 0;
    if (options.threads < 0 || options.threads > most_threads)
      return bad_option("threads", options.threads, options.threads < 0 ? 0 : most_threads);
    problem.threads = options.threads;
    problem.parallel_for = options.parallel_for;
    if (!options.key_lengths) return {};

    const std::span<const Index> lengths = *options.key_lengths;
    if (static_cast<Index>(lengths.size()) != problem.batch)
      return {Code::extent, "key_lengths", "query", -1, static_cast<Index>(lengths.size()),
              problem.batch};
    if (lengths.data() == nullptr && !lengths.empty()) return {Code::null_data, "key_lengths"};
    for (std::size_t b = 0; b < lengths.size(); ++b)
      if (lengths[b] < 0 || lengths[b] > problem.keys)
        return bad_option("key_lengths", lengths[b], lengths[b] < 0 ? 0 : problem.keys,
                          static_cast<Index>(b));
    problem.key_lengths = lengths.data();
    return {};
  }

  Status overlaps() { return check_overlaps(arguments, options); }
};

}  // namespace

Status check(const Tensor& query, const Tensor& key, const Tensor& value, const Outputs& outputs,
             const Options& options, Problem& problem) noexcept {
  Check steps{query, key, value, outputs, options, problem};
  for (const auto step :
       {&Check::ranks, &Check::types, &Check::tensors, &Check::extents, &Check::logits_shapes,
        &Check::scaling, &Check::arithmetic, &Check::positions, &Check::overlaps})
    if (const Status status = (steps.*step)(); !status.ok()) return status;

  problem.query = view_of(query);
  problem.key = view_of(key);
  problem.value = view_of(value);
  problem.output = view_of(outputs.output);
  if (outputs.lse) {
    Tensor lse = *outputs.lse;  // with an axis for dim, as every View has
    lse.extent[static_cast<std::size_t>(lse.rank)] = 1;
    ++lse.rank;
    problem.lse = view_of(lse);
  }
  if (outputs.weights) problem.weights = view_of(*outputs.weights);
  if (options.mask) problem.mask = view_of(*options.mask);
  if (options.bias) problem.bias = view_of(*options.bias);
  problem.is_masked = problem.mask.data != nullptr || problem.bias.data != nullptr;
  return {};
}

Band Problem::band(Index batch_entry) const {
  const Index seen_keys = key_lengths == nullptr ? keys : key_lengths[batch_entry];
  return {seen_keys, causal == Causal::bottom_right ? seen_keys - queries : 0, left, right};
}

}  // namespace scaledot
