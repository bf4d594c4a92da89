// `scaledot bench`: measures one shape on this machine.
#pragma once

#include <CLI/CLI.hpp>

#include "measure/shape.hpp"

namespace scaledot::cli {

struct BenchArguments {
  measure::Shape shape;
  bool json = false;
};

// Adds the subcommand, which fills `arguments` when it is parsed; they must live as long as `app`.
CLI::App* add_bench(CLI::App& app, BenchArguments& arguments);

// Returns the program's exit code.
int run_bench(const BenchArguments& arguments);

}  // namespace scaledot::cli
