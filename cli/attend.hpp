// `scaledot attend`: reads tensors from files, attends, and writes the results.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "failure.hpp"
#include "scaledot/attention.hpp"

namespace scaledot::cli {

struct AttendArguments {
  // Files, named as tensor_file.hpp says; empty if not given.
  std::string query, key, value, output, lse, weights, mask, bias, key_lengths;
  Options options;  // mask, bias and key_lengths are not set here
  bool json = false;
};

// Adds the subcommand, which fills `arguments` when it is parsed; they must live as long as `app`.
CLI::App* add_attend(CLI::App& app, AttendArguments& arguments);

ExitCode run_attend(const AttendArguments& arguments);

}  // namespace scaledot::cli
