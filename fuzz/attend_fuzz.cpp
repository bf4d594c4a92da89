// Any call, on every kernel table that this processor can run and by every path: the same status,
// the same bits, and nothing written but the outputs.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <vector>

#include "attend_case.hpp"
#include "dispatch.hpp"

namespace {

using namespace scaledot;
using namespace scaledot::fuzz;

constexpr std::byte filling{0xa5};

// One call's own outputs.
struct Run {
  Status status;
  Room output;
  std::optional<Room> lse, weights;
};

Outputs make_rooms(const Case& made, Run& run) {
  Outputs outputs;
  run.output = room_for(made.output, filling);
  outputs.output = run.output.tensor;
  if (made.lse) outputs.lse = run.lse.emplace(room_for(*made.lse, filling)).tensor;
  if (made.weights) outputs.weights = run.weights.emplace(room_for(*made.weights, filling)).tensor;
  return outputs;
}

Run run_on(const kernels::KernelTable& table, const Case& made, const Paths& paths, int threads) {
  Run run;
  const Outputs outputs = make_rooms(made, run);
  Options options = made.options;
  options.threads = threads;
  run.status = attend_on(table, made.query.tensor, made.key.tensor, made.value.tensor, outputs,
                         options, paths);
  return run;
}

// The public call, with exactly the workspace that it asks for, at any address.
Run run_in_workspace(const Case& made, std::size_t misaligned) {
  Run run;
  const Outputs outputs = make_rooms(made, run);
  Options options = made.options;
  std::size_t bytes = 0;
  const Tensor &query = made.query.tensor, &key = made.key.tensor, &value = made.value.tensor;
  run.status = workspace_bytes(query, key, value, outputs, options, bytes);
  if (!run.status.ok()) return run;
  std::vector<std::byte> memory(misaligned + bytes);
  options.workspace = std::span(memory).subspan(misaligned);
  run.status = attend(query, key, value, outputs, options);
  return run;
}

void expect_same_status(const Status& got, const Status& expected) {
  const bool is_same = got.code == expected.code && got.axis == expected.axis &&
                       got.got == expected.got && got.expected == expected.expected &&
                       std::strcmp(got.argument, expected.argument) == 0 &&
                       std::strcmp(got.other, expected.other) == 0;
  if (is_same) return;
  std::fprintf(stderr, "the status is: %s\nexpected: %s\n", describe(got).c_str(),
               describe(expected).c_str());
  std::abort();
}

void expect_right(const Run& got, const Run& expected, float ignored_below) {
  expect_same_status(got.status, expected.status);
  const Where where = got.status.ok() ? Where::between_elements : Where::anywhere;
  const auto check = [&](const Room& room, const Room& other, float below, const char* argument) {
    expect_untouched(room, filling, where, argument);
    if (got.status.ok()) expect_same(room, other, below, argument);
  };
  check(got.output, expected.output, ignored_below, "output");
  if (got.lse) check(*got.lse, *expected.lse, 0, "lse");
  if (got.weights) check(*got.weights, *expected.weights, ignored_below, "weights");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Case made;
  make_case(data, size, made);
  const auto tables = usable_tables();
  const Run expected = run_on(*tables.back(), made, Paths{false, false, false}, 1);
  expect_right(expected, expected, made.ignored_below);
  // Which path a table takes changes from one to the next, and with the input.
  unsigned choice = size > 0 ? data[0] : 0;
  for (const kernels::KernelTable* table : tables) {
    const Paths paths{(choice & 1) != 0, (choice & 2) != 0, (choice & 4) != 0};
    const Run run = run_on(*table, made, paths, made.options.threads);
    expect_right(run, expected, made.ignored_below);
    choice += 3;
  }
  expect_right(run_in_workspace(made, choice % 64), expected, made.ignored_below);
  return 0;
}
