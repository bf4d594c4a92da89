// What ends a command early: main() prints the message on one line and returns the exit code.
#pragma once

#include <string>
#include <string_view>

namespace scaledot::cli {

enum class ExitCode : int {
  ok = 0,
  failure = 1,  // the machine could not do it: no memory, a file that cannot be written
  mistake = 2   // the caller asked for something that makes no sense, or gave a bad file
};

struct Failure {
  ExitCode code;
  std::string message;
};

// Throw a Failure.
[[noreturn]] void refuse(std::string message);                        // a mistake
[[noreturn]] void fail(std::string message);                          // a failure
[[noreturn]] void fail_with_errno(std::string_view what, int error);  // "what: No such file ..."

// A name from outside in quotes, on one line, in printable ASCII and not too long.
std::string in_quotes(std::string_view name);

}  // namespace scaledot::cli
