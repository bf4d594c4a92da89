#include "bench.hpp"

#include <cstdio>
#include <map>
#include <string>

#include "failure.hpp"
#include "in_use.hpp"
#include "measure/isa.hpp"
#include "measure/measure.hpp"
#include "measure/report.hpp"
#include "option_text.hpp"
#include "progress.hpp"

namespace scaledot::cli {

namespace {

using measure::Json;
using measure::Result;
using measure::Shape;

void print(const Shape& shape, const Result& result, const std::string& isa) {
  std::printf(
      "%s, %s arithmetic on %s, batch %lld, heads %lld on %lld, queries %lld, keys %lld, "
      "head_dim %lld, value_dim %lld, causal %s, threads %d\n",
      measure::name_of(shape.dtype), measure::name_of(resolved_arithmetic(shape)), isa.c_str(),
      static_cast<long long>(shape.batch), static_cast<long long>(shape.heads),
      static_cast<long long>(shape.key_heads), static_cast<long long>(shape.queries),
      static_cast<long long>(shape.keys), static_cast<long long>(shape.head_dim),
      static_cast<long long>(shape.value_dim), measure::name_of(shape.causal), shape.threads);
  std::printf("time    %.1f us, best %.1f us (median of %d, spread %.1f %%, warm cache)\n",
              result.microseconds, result.best_microseconds, result.repetitions,
              result.spread * 100);
  std::printf("rate    %.1f GFLOP/s, %.1f %% of the peak (%.1f, measured in between)\n",
              result.gflops, result.fraction_of_peak * 100, result.peak_gflops);
  std::printf("memory  %.2f GB/s", result.bandwidth_gbytes);
  if (result.fraction_of_bandwidth)
    std::printf(", %.1f %% of what reading these keys and values allows",
                *result.fraction_of_bandwidth * 100);
  std::printf("\n");
}

// Options that are the length of an axis. Two follow another one if they are not given.
void add_extents(CLI::App& bench, Shape& shape) {
  constexpr Index most = Index{1} << 60;  // no sum of two overflows
  const auto add = [&bench](const char* name, Index& value, const char* meaning) {
    return bench
        .add_option_function<std::string>(
            name,
            [&value, name](const std::string& text) { value = parse_count(name, text, 0, most); },
            meaning)
        ->type_name("N");
  };
  const auto add_with_default = [&add](const char* name, Index& value, const char* meaning) {
    add(name, value, meaning)->default_str(std::to_string(value));
  };
  add_with_default("--batch", shape.batch, "Batch entries");
  add_with_default("--heads", shape.heads, "Query heads");
  CLI::Option* key_heads =
      add("--key-heads", shape.key_heads, "Key heads, as --heads if not given");
  add_with_default("--queries", shape.queries, "Queries");
  add_with_default("--keys", shape.keys, "Keys");
  add_with_default("--head-dim", shape.head_dim, "Length of a query and key row");
  CLI::Option* value_dim =
      add("--value-dim", shape.value_dim, "Length of a value row, as --head-dim if not given");
  bench.parse_complete_callback([&shape, key_heads, value_dim] {
    if (key_heads->empty()) shape.key_heads = shape.heads;
    if (value_dim->empty()) shape.value_dim = shape.head_dim;
  });
}

// Options that take one of a few words.
void add_choices(CLI::App& bench, Shape& shape) {
  const auto add = [&bench](const char* name, auto& value, const char* words, const auto& by_name,
                            const char* meaning) {
    bench
        .add_option_function<std::string>(
            name, [&value, by_name](const std::string& word) { value = by_name.at(word); }, meaning)
        ->type_name(words)
        ->check(CLI::IsMember(by_name).description(""))
        ->default_str(measure::name_of(value));
  };
  using Causals = std::map<std::string, Causal>;
  using DTypes = std::map<std::string, DType>;
  using Arithmetics = std::map<std::string, Arithmetic>;
  add("--causal", shape.causal, "off|top_left|bottom_right",
      Causals{{"off", Causal::off},
              {"top_left", Causal::top_left},
              {"bottom_right", Causal::bottom_right}},
      "Which diagonal a query may not look beyond");
  add("--dtype", shape.dtype, "f32|f16|bf16",
      DTypes{{"f32", DType::f32}, {"f16", DType::f16}, {"bf16", DType::bf16}},
      "Type of all tensors");
  add("--arithmetic", shape.arithmetic, "automatic|f32|bf16",
      Arithmetics{{"automatic", Arithmetic::automatic},
                  {"f32", Arithmetic::f32},
                  {"bf16", Arithmetic::bf16}},
      "How sums and products are rounded");
}

void add_counts(CLI::App& bench, Shape& shape) {
  bench
      .add_option_function<std::string>(
          "--window",
          [&shape](const std::string& text) { shape.window = parse_window("--window", text); },
          "Keys seen to both sides of the diagonal, both ends included; -1 is unlimited")
      ->type_name("LEFT,RIGHT");
  bench
      .add_option_function<std::string>(
          "--threads",
          [&shape](const std::string& text) {
            shape.threads =
                threads_in_use(static_cast<int>(parse_count("--threads", text, 0, 4096)));
          },
          "0: SCALEDOT_THREADS, or one a core")
      ->type_name("N")
      ->default_str("1");
}

}  // namespace

CLI::App* add_bench(CLI::App& app, BenchArguments& arguments) {
  CLI::App* bench = app.add_subcommand("bench", "Measure one shape on this machine, warm cache");
  add_extents(*bench, arguments.shape);
  add_choices(*bench, arguments.shape);
  add_counts(*bench, arguments.shape);
  bench->add_flag("--json", arguments.json, "Print JSON")->disable_flag_override();
  bench->footer(
      "Example: one new token of a model with grouped heads\n"
      "  scaledot bench --heads 32 --key-heads 8 --queries 1 --keys 4096 --head-dim 128 --dtype "
      "f16");
  return bench;
}

int run_bench(const BenchArguments& arguments) {
  measure::Tensors tensors(arguments.shape);
  measure::Measured measured;
  {
    Progress progress("bench");
    measured =
        measure::measure(tensors, {}, {}, [&progress](double part) { progress.advance(part); });
  }
  if (measured.status.code == Status::Code::out_of_memory) fail(describe(measured.status));
  if (!measured.status.ok()) refuse(describe(measured.status));
  if (!measured.fault.empty()) fail(measured.fault);
  const Result& result = measured.results.front();
  const std::string isa = measure::isa_for(measure::resolved_arithmetic(arguments.shape));
  if (arguments.json) {
    Json json = measure::json_of(arguments.shape);
    json.update(measure::json_of(result));
    json["isa"] = isa;
    std::printf("%s\n", json.dump(2).c_str());
  } else {
    print(arguments.shape, result, isa);
  }
  return 0;
}

}  // namespace scaledot::cli
