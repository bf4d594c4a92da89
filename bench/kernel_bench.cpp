// Micro-benchmarks of each usable kernel table: packing, and one full tile against packed keys.
// They are for comparing two versions of a kernel; what attention reaches is scaledot_bench's part.
#include <benchmark/benchmark.h>

#include <cstring>
#include <limits>
#include <string>

#include "dispatch.hpp"
#include "measure/tensors.hpp"

namespace scaledot::bench {

namespace {

using kernels::BlockFacts;
using kernels::KernelTable;

constexpr Index keys = kernels::split_keys;

Lines lines_of(const Tensor& tensor) {
  return {static_cast<const std::byte*>(tensor.data), tensor.dtype, tensor.stride[1],
          tensor.stride[2], tensor.stride[3]};
}

// One head with as many queries as a full tile has rows, and room for everything its kernels need.
struct OneTile {
  OneTile(const KernelTable& of, Index dim, DType dtype)
      : table(of),
        tensors(shape(of, dim, dtype)),
        key(bytes(keys * dim)),
        value(bytes(keys * round_up(dim, of.lanes))),
        facts(sizeof(BlockFacts) * (keys / kernels::block_keys)) {
    tile.constants.head_dim = tile.constants.value_dim = dim;
    tile.constants.scale = 0.125f;
    tile.band = {keys, 0, std::numeric_limits<int>::max(), std::numeric_limits<int>::max()};
    tile.keys = keys;
    tile.count = of.rows;
    tile.query = lines_of(tensors.query());
    tile.key = lines_of(tensors.key());
    tile.value = lines_of(tensors.value());
    tile.output = lines_of(tensors.output());
    tile.panels = {reinterpret_cast<float*>(key.data()), reinterpret_cast<float*>(value.data()),
                   reinterpret_cast<BlockFacts*>(facts.data())};
    tile.bf16 = dtype == DType::bf16;
  }

  static measure::Shape shape(const KernelTable& of, Index dim, DType dtype) {
    measure::Shape shape;
    shape.heads = shape.key_heads = 1;
    shape.queries = of.rows;
    shape.keys = keys;
    shape.head_dim = shape.value_dim = dim;
    shape.dtype = dtype;
    return shape;
  }
  static std::size_t bytes(Index floats) {
    return static_cast<std::size_t>(floats) * sizeof(float);
  }

  void pack() const {
    table.pack(
        {tile.constants, tile.key, tile.value, {0, keys}, {0, keys}, {}, tile.panels, tile.bf16});
  }

  const KernelTable& table;
  measure::Tensors tensors;
  measure::Memory key, value, facts;
  kernels::Tile tile;
};

void pack(benchmark::State& state, const KernelTable& table, DType dtype) {
  const OneTile one(table, state.range(0), dtype);
  for (auto _ : state) one.pack();
  state.SetBytesProcessed(state.iterations() *
                          static_cast<std::int64_t>(measure::bytes(one.tensors.shape())));
}

void attend(benchmark::State& state, const KernelTable& table, DType dtype) {
  const OneTile one(table, state.range(0), dtype);
  const measure::Memory scratch(OneTile::bytes(table.scratch_floats(one.tile.constants)));
  one.pack();
  for (auto _ : state) table.attend(one.tile, reinterpret_cast<float*>(scratch.data()));
  state.counters["FLOP/s"] = benchmark::Counter(measure::flops(one.tensors.shape()),
                                                benchmark::Counter::kIsIterationInvariantRate);
}

void add_benchmarks() {
  using Measure = void (*)(benchmark::State&, const KernelTable&, DType);
  const auto add = [](const char* name, Measure measured, const KernelTable& table, DType dtype) {
    const std::string full =
        std::string(name) + "/" + table.name + "/" + measure::name_of(dtype) + "/head_dim";
    benchmark::RegisterBenchmark(
        full.c_str(),
        [measured, &table, dtype](benchmark::State& state) { measured(state, table, dtype); })
        ->Arg(64)
        ->Arg(128);
  };
  for (const KernelTable* table : usable_tables())
    for (const DType dtype : {DType::f32, DType::bf16}) {
      if (&table_for(*table, dtype == DType::bf16) != table) continue;
      add("pack", pack, *table, dtype);
      add("attend", attend, *table, dtype);
    }
}

}  // namespace

}  // namespace scaledot::bench

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  scaledot::bench::add_benchmarks();
  benchmark::RunSpecifiedBenchmarks();
}
