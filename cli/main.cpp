// The scaledot program: attention on the command line.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <exception>
#include <new>
#include <sstream>
#include <string>
#include <vector>

#include "attend.hpp"
#include "bench.hpp"
#include "failure.hpp"
#include "info.hpp"
#include "scaledot/machine.hpp"

namespace {

using scaledot::cli::ExitCode;
using scaledot::cli::Failure;

int report(ExitCode code, std::string message) {
  std::replace(message.begin(), message.end(), '\n', ' ');
  std::fprintf(stderr, "scaledot: %s\n", message.c_str());
  return static_cast<int>(code);
}

// CLI11 takes an empty value for none, or for 0; from a script it is a variable that was not set.
void refuse_empty(int argc, char** argv) {
  for (int i = 2; i < argc; ++i)
    if (*argv[i] == '\0')
      scaledot::cli::refuse("the argument after " + scaledot::cli::in_quotes(argv[i - 1]) +
                            " is empty");
}

// What CLI11 says, or what it does not: which word is no command.
std::string message_of(const CLI::ParseError& error, const CLI::App& app) {
  if (!app.get_subcommands().empty()) return error.what();
  const std::vector<std::string> words = app.remaining();
  std::string message = words.empty() ? "no command" : scaledot::cli::in_quotes(words.front());
  message += words.empty() ? ", expected " : " is no command, expected ";
  for (const CLI::App* command : app.get_subcommands(nullptr))
    message += command->get_name() + ", ";
  return message + "or --help";
}

int run(int argc, char** argv) {
  refuse_empty(argc, argv);
  CLI::App app("Scaled dot-product attention: softmax(scale * query . key^T + bias) . value",
               "scaledot");
  app.set_version_flag("--version", std::string("scaledot ") + scaledot::version());
  app.require_subcommand(1);
  app.footer(
      "Example:\n"
      "  scaledot attend --query q.npy --key k.npy --value v.npy --output out.npy\n"
      "\n"
      "Exit codes: 0 it worked; 1 it failed; 2 what was asked makes no sense.");
  scaledot::cli::AttendArguments attend;
  scaledot::cli::BenchArguments bench;
  scaledot::cli::InfoArguments info;
  const CLI::App* attend_command = add_attend(app, attend);
  const CLI::App* bench_command = add_bench(app, bench);
  add_info(app, info);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0) return report(ExitCode::mistake, message_of(error, app));
    std::ostringstream text;  // --help or --version; std::cout would keep its failure to itself
    app.exit(error, text, text);
    std::fputs(text.str().c_str(), stdout);
    return 0;
  }
  if (attend_command->parsed()) return static_cast<int>(run_attend(attend));
  if (bench_command->parsed()) return run_bench(bench);
  return static_cast<int>(run_info(info));
}

}  // namespace

int main(int argc, char** argv) try {
  std::signal(SIGXFSZ, SIG_IGN);  // a file that grows too large is then a failure like any other
  const int code = run(argc, argv);
  if (code == 0 && std::fflush(stdout) != 0)
    scaledot::cli::fail_with_errno("cannot write to stdout", errno);
  return code;
} catch (const Failure& failure) {
  return report(failure.code, failure.message);
} catch (const std::bad_alloc&) {
  return report(ExitCode::failure, "out of memory");
} catch (const std::exception& error) {
  return report(ExitCode::failure, error.what());
}
