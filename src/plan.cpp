#include "plan.hpp"

namespace scaledot {

namespace {

constexpr Index few_tasks = 64;                // below that, splits become tasks
constexpr Index wave_tasks = 16;               // tiles a thread between two waits for each other
constexpr Index wave_floats = Index{1} << 26;  // of panels, unless a single head needs more
constexpr Index near_floats = Index{1} << 18;  // of a head's panels that stay near, in an L2 cache
constexpr Index most_together = 16;
constexpr std::size_t alignment = 64;
constexpr double least_shared = 0x1p20;  // work() that more than one thread takes part in

// In steps of about 15 ps of one core with AVX-512: multiply-adds, the softmax of a logit as 32 of
// them, and the bytes of keys and values as f32, which few queries wait for. The weights take a
// second pass. To wake a worker takes longer than least_shared.
double work(const Problem& problem, const Plan& plan) noexcept {
  const kernels::Constants& constants = problem.constants;
  const double dims =
      static_cast<double>(constants.head_dim) + static_cast<double>(constants.value_dim) + 32;
  const double passes = problem.weights.data != nullptr ? 2 : 1;
  return passes * static_cast<double>(plan.heads) * static_cast<double>(problem.keys) * dims *
         static_cast<double>(plan.rows + 4);
}

// How many tiles walk past each split together. Those that a matrix unit works on are so fast that
// each would wait for panels that are far away; multiply-adds do not. Not if that left threads
// without tasks.
Index tiles_together(const kernels::KernelTable& table, const Paths& paths, int threads,
                     const Plan& plan) noexcept {
  const bool are_far = !table.runs_f32 && plan.key_panel + plan.value_panel > near_floats;
  if (!are_far && !paths.far_panels) return 1;
  const Index fair = plan.heads * plan.tiles / (paths.far_panels ? 1 : 4 * threads);
  return larger(smaller(fair, most_together), 1);
}

}  // namespace

bool plan(const Problem& problem, const kernels::KernelTable& table, const Paths& paths,
          int threads, Plan& plan) noexcept {
  const kernels::Constants& constants = problem.constants;
  const Index keys = round_up(problem.keys, kernels::block_keys);
  const double elements =
      static_cast<double>(keys + table.rows) *
      (static_cast<double>(constants.head_dim) + static_cast<double>(constants.value_dim) + 64);
  if (elements > 0x1p56) return false;

  plan.heads = problem.batch * problem.key_heads;
  plan.rows = problem.group * problem.queries;
  plan.tiles = pieces(plan.rows, table.rows);
  plan.scratch = table.scratch_floats(constants);
  if (paths.alone && work(problem, plan) < least_shared) threads = 1;

  const bool shares = paths.shared_panels && plan.tiles > 1;
  const Index splits = pieces(problem.keys, kernels::split_keys);
  const bool separates = paths.split_tasks && !shares && splits > 1 &&
                         problem.weights.data == nullptr && plan.heads * plan.tiles < few_tasks;
  plan.splits = separates ? splits : 0;
  Index tasks = plan.heads * plan.tiles * (separates ? splits : 1);
  if (separates) plan.slot = table.slot_floats(constants);
  if (shares) {
    const Index blocks = keys / kernels::block_keys;
    const kernels::PanelFloats block = table.panel_floats(constants, problem.bf16);
    plan.key_panel = blocks * block.key;
    plan.value_panel = blocks * block.value;
    plan.facts = round_up(blocks * Index{sizeof(kernels::BlockFacts)}, 64) / 4;
    plan.seen = problem.is_masked ? round_up(keys, 64) / 4 : 0;
    const Index wanted = threads == 1 ? 1 : pieces(wave_tasks * threads, plan.tiles);
    const Index most = larger(wave_floats / larger(plan.panels(), 1), 1);
    plan.wave = smaller(smaller(wanted, most), plan.heads);
    if (splits > 1 && problem.weights.data == nullptr)
      plan.together = tiles_together(table, paths, threads, plan);
    if (plan.together > 1) {
      plan.slot = table.slot_floats(constants);
      plan.scratch += plan.together * plan.slot;
    }
    tasks = plan.wave * pieces(plan.tiles, plan.together);
  }
  plan.threads = static_cast<int>(larger(smaller(threads, tasks), 1));
  if (problem.key_lengths != nullptr && problem.batch > 1 && plan.threads > 1)
    plan.order = round_up(problem.batch * Index{sizeof(Index)}, 64) / 4;

  const Index slots = separates ? tasks : 0;
  const double floats = static_cast<double>(plan.threads) * static_cast<double>(plan.scratch) +
                        static_cast<double>(plan.wave) * static_cast<double>(plan.panels()) +
                        static_cast<double>(slots) * static_cast<double>(plan.slot) +
                        static_cast<double>(plan.order);
  if (floats > 0x1p58) return false;
  const Index all =
      plan.threads * plan.scratch + plan.wave * plan.panels() + slots * plan.slot + plan.order;
  plan.bytes = static_cast<std::size_t>(all) * sizeof(float) + alignment;
  return true;
}

}  // namespace scaledot
