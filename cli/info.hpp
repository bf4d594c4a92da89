// `scaledot info`: what the library found on this machine.
#pragma once

#include <CLI/CLI.hpp>

#include "failure.hpp"

namespace scaledot::cli {

struct InfoArguments {
  bool json = false;
};

// Adds the subcommand, which fills `arguments` when it is parsed; they must live as long as `app`.
CLI::App* add_info(CLI::App& app, InfoArguments& arguments);

ExitCode run_info(const InfoArguments& arguments);

}  // namespace scaledot::cli
