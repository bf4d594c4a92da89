// attend(): check the arguments, plan the tasks, run them on the kernel table in use.
#include "attention.hpp"

#include <algorithm>

#include "cores.hpp"
#include "dispatch.hpp"
#include "float_mode.hpp"
#include "parallel.hpp"
#include "plan.hpp"
#include "problem.hpp"
#include "workspace.hpp"

namespace scaledot {

using kernels::KernelTable;
using kernels::Panels;
using kernels::Tile;

namespace {

constexpr Paths public_paths{.alone = true};

// One call under way.
struct Run {
  const Problem& problem;
  const KernelTable& table;
  const Paths& paths;
  const Plan& plan;
  float* memory;
  const Index* order = nullptr;  // [batch]: entries in the order of their tasks, if not as they are
  Index first_head = 0;          // of the wave

  float* scratch(int worker) const { return memory + worker * plan.scratch; }
  float* after_scratch() const { return memory + plan.threads * plan.scratch; }
  float* slots(Index tile) const { return after_scratch() + tile * plan.splits * plan.slot; }

  float* panel_memory(Index head) const {
    return after_scratch() + (head - first_head) * plan.panels();
  }
  Panels panels(Index head) const {
    if (plan.wave == 0) return {};
    float* const key = panel_memory(head);
    float* const value = key + plan.key_panel;
    return {key, value, reinterpret_cast<kernels::BlockFacts*>(value + plan.value_panel)};
  }

  // Has the entries with most keys go first, so that none is begun when the others are done.
  void longest_first() {
    if (plan.order == 0) return;
    auto* const entries = reinterpret_cast<Index*>(memory);
    memory += plan.order;
    for (Index b = 0; b < problem.batch; ++b) entries[b] = b;
    const Index* const length = problem.key_lengths;
    std::sort(entries, entries + problem.batch, [length](Index a, Index b) {
      return length[a] != length[b] ? length[a] > length[b] : a < b;
    });
    order = entries;
  }

  // Rows [first, first + count) of a key head, which is one of all batch entries'.
  Tile tile(Index head, Index first, Index count) const {
    const Index place = head / problem.key_heads, key_head = head % problem.key_heads;
    const Index batch = order == nullptr ? place : order[place];
    const Index query_head = key_head * problem.group;
    Tile tile;
    tile.constants = problem.constants;
    tile.band = problem.band(batch);
    tile.keys = problem.keys;
    tile.first = first;
    tile.count = count;
    tile.group = problem.group;
    tile.query = problem.query.lines(batch, query_head);
    tile.key = problem.key.lines(batch, key_head);
    tile.value = problem.value.lines(batch, key_head);
    tile.mask = problem.mask.lines(batch, query_head);
    tile.bias = problem.bias.lines(batch, query_head);
    tile.output = problem.output.lines(batch, query_head);
    tile.lse = problem.lse.lines(batch, query_head);
    tile.weights = problem.weights.lines(batch, query_head);
    tile.panels = panels(head);
    tile.certify = paths.certified;
    tile.thin = paths.thin;
    tile.bf16 = problem.bf16;
    tile.taken = paths.taken;
    return tile;
  }
  // Tiles of a head are taken last one first: with a causal band those are the longest.
  Tile tile(Index index) const {
    const Index head = index / plan.tiles, place = plan.tiles - 1 - index % plan.tiles;
    const Index first = place * table.rows;
    return tile(head, first, smaller(table.rows, plan.rows - first));
  }

  // Packs one split of a head's keys, as far as some query sees them.
  void pack_split(Index index) const {
    const Index splits = pieces(problem.keys, kernels::split_keys);
    const Index head = first_head + index / splits, begin = index % splits * kernels::split_keys;
    const Tile all = tile(head, 0, plan.rows);
    const Range seen = all.band.any(all.queries());
    kernels::Packing packing;
    packing.constants = problem.constants;
    packing.key = all.key;
    packing.value = all.value;
    packing.panels = all.panels;
    packing.bf16 = problem.bf16;
    packing.keys = {larger(begin, seen.begin / kernels::block_keys * kernels::block_keys),
                    smaller(begin + kernels::split_keys, seen.end)};
    if (packing.keys.empty()) return;
    packing.keys_read = {larger(packing.keys.begin, seen.begin), packing.keys.end};
    if (problem.is_masked) {
      float* const marks = panel_memory(head) + plan.panels() - plan.seen;
      packing.seen = {reinterpret_cast<std::uint8_t*>(marks), 0};
      for (Index j = packing.keys.begin; j < packing.keys.end; ++j) packing.seen.marks[j] = 0;
      table.mark_seen(all, packing.keys_read, packing.seen);
    }
    table.pack(packing);
  }

  template <class Task>
  void each(Index count, const Task& task) const {
    parallel_for(
        problem.parallel_for, count, plan.threads,
        [](void* data, Index index, int worker) {
          (*static_cast<const Task*>(data))(index, worker);
        },
        const_cast<Task*>(&task));
  }

  void in_waves() {
    for (; first_head < plan.heads; first_head += plan.wave) {
      const Index heads = smaller(plan.wave, plan.heads - first_head);
      each(heads * pieces(problem.keys, kernels::split_keys),
           [this](Index index, int) { pack_split(index); });
      const Index groups = pieces(plan.tiles, plan.together);
      each(heads * groups, [this, groups](Index index, int worker) {
        const Index first = index % groups * plan.together;
        const Index count = smaller(plan.together, plan.tiles - first);
        together((first_head + index / groups) * plan.tiles + first, count, scratch(worker));
      });
    }
  }

  // Tiles of one head, each split of keys past all of them before the next one, so that it is read
  // from afar once.
  void together(Index first, Index count, float* scratch) const {
    if (plan.together == 1) return table.attend(tile(first), scratch);
    float* const slots = scratch + plan.scratch - plan.together * plan.slot;
    for (Index split = 0; split * kernels::split_keys < problem.keys; ++split)
      for (Index t = 0; t < count; ++t) {
        const Tile one = tile(first + t);
        const Range seen = one.band.any(one.queries());
        const Index begin = seen.empty() ? 0 : seen.begin / kernels::split_keys;
        const auto run = split == begin ? table.attend_split : table.merge_split;
        if (split == begin || (split > begin && split * kernels::split_keys < seen.end))
          run(one, split, slots + t * plan.slot, scratch);
      }
    for (Index t = 0; t < count; ++t) table.finish(tile(first + t), slots + t * plan.slot, 1);
  }

  void tile_by_tile() const {
    each(plan.heads * plan.tiles,
         [this](Index index, int worker) { table.attend(tile(index), scratch(worker)); });
  }

  void split_by_split() const {
    each(plan.heads * plan.tiles * plan.splits, [this](Index index, int worker) {
      table.attend_split(tile(index / plan.splits), index % plan.splits,
                         slots(0) + index * plan.slot, scratch(worker));
    });
    each(plan.heads * plan.tiles,
         [this](Index index, int) { table.finish(tile(index), slots(index), plan.splits); });
  }
};

// Checks and plans a call, and says which table runs it in the place of the one given; `plan` is
// empty if there is nothing to compute.
Status prepare(const KernelTable*& table, const Tensor& query, const Tensor& key,
               const Tensor& value, const Outputs& outputs, const Options& options,
               const Paths& paths, Problem& problem, Plan& made) noexcept {
  if (const Status bad = check(query, key, value, outputs, options, problem); !bad.ok()) return bad;
  const int threads = problem.threads != 0 ? problem.threads : default_threads();
  if (threads < 0) return {Status::Code::option, "SCALEDOT_THREADS", "", -1, 0, 1};
  if (problem.output.data == nullptr && problem.lse.data == nullptr &&
      problem.weights.data == nullptr)
    return {};
  table = &table_for(*table, problem.bf16);
  if (!plan(problem, *table, paths, threads, made))
    return {Status::Code::out_of_memory, "workspace"};
  return {};
}

}  // namespace

Status attend_on(const KernelTable& asked, const Tensor& query, const Tensor& key,
                 const Tensor& value, const Outputs& outputs, const Options& options,
                 const Paths& paths) noexcept {
  DefaultFloatMode mode;
  const KernelTable* table = &asked;
  Problem problem;
  Plan plan;
  if (const Status bad = prepare(table, query, key, value, outputs, options, paths, problem, plan);
      !bad.ok())
    return bad;
  if (plan.bytes == 0) return {};
  const auto needed = static_cast<Index>(plan.bytes);
  const auto given = static_cast<Index>(options.workspace.size());
  if (given != 0 && given < needed)
    return {Status::Code::extent, "workspace", "", -1, given, needed};
  const Workspace workspace(options.workspace, plan.bytes);
  if (workspace.floats() == nullptr)
    return {Status::Code::out_of_memory, "workspace", "", -1, 0, needed};

  CallersLoop loop(problem.parallel_for, mode);
  problem.parallel_for = loop.in_callers_mode();

  Run run{problem, *table, paths, plan, workspace.floats()};
  run.longest_first();
  if (plan.wave > 0)
    run.in_waves();
  else if (plan.splits > 0)
    run.split_by_split();
  else
    run.tile_by_tile();
  return {};
}

Status attend(const Tensor& query, const Tensor& key, const Tensor& value, const Outputs& outputs,
              const Options& options) noexcept {
  const KernelTable* const table = table_in_use();
  if (table == nullptr) return {Status::Code::option, "SCALEDOT_ISA"};
  return attend_on(*table, query, key, value, outputs, options, public_paths);
}

Status workspace_bytes(const Tensor& query, const Tensor& key, const Tensor& value,
                       const Outputs& outputs, const Options& options,
                       std::size_t& bytes) noexcept {
  const KernelTable* table = table_in_use();
  if (table == nullptr) return {Status::Code::option, "SCALEDOT_ISA"};
  const DefaultFloatMode mode;
  Problem problem;
  Plan plan;
  const Status status =
      prepare(table, query, key, value, outputs, options, public_paths, problem, plan);
  if (status.ok()) bytes = plan.bytes;
  return status;
}

Tensor contiguous(const void* data, DType dtype, std::initializer_list<Index> extents) noexcept {
  Tensor tensor{const_cast<void*>(data), dtype, static_cast<int>(extents.size()), {}, {}};
  std::size_t axis = 0;
  for (const Index extent : extents)
    if (axis < tensor.extent.size()) tensor.extent[axis++] = extent;
  std::uint64_t stride = 1;  // unsigned: extents that overflow are attend()'s to refuse
  while (axis-- > 0) {
    tensor.stride[axis] = static_cast<Index>(stride);
    stride *= static_cast<std::uint64_t>(tensor.extent[axis]);
  }
  return tensor;
}

}  // namespace scaledot
