// attend() on a given kernel table and by given paths, for the tests: the bits must not depend on
// them.
#pragma once

#include "kernels/table.hpp"
#include "scaledot/attention.hpp"

namespace scaledot {

// What a call may use. Each is a matter of speed alone.
struct Paths {
  bool certified = true;      // skip the running maximum where the logits are known to be small
  bool shared_panels = true;  // pack keys and values once a key head, not in every tile
  bool split_tasks = true;    // let tasks of their own take the splits of few queries
  bool thin = true;           // few rows may read keys and values where they lie
  bool alone = false;         // leave little work to the caller's thread alone, as attend() does
  bool far_panels = false;    // take panels of any size as too large for a cache
  kernels::Taken* taken = nullptr;  // what was used is counted there
};

[[nodiscard]] Status attend_on(const kernels::KernelTable& table, const Tensor& query,
                               const Tensor& key, const Tensor& value, const Outputs& outputs,
                               const Options& options, const Paths& paths = {}) noexcept;

}  // namespace scaledot
