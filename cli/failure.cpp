#include "failure.hpp"

#include <cstdio>
#include <system_error>
#include <utility>

namespace scaledot::cli {

void refuse(std::string message) { throw Failure{ExitCode::mistake, std::move(message)}; }

void fail(std::string message) { throw Failure{ExitCode::failure, std::move(message)}; }

void fail_with_errno(std::string_view what, int error) {
  fail(std::string(what) + ": " + std::generic_category().message(error));
}

std::string in_quotes(std::string_view name) {
  constexpr std::size_t most = 200;
  std::string text = "'";
  for (const char character : name.substr(0, most)) {
    const auto byte = static_cast<unsigned char>(character);
    if (byte >= ' ' && byte < 127) {
      text += character;
      continue;
    }
    char escape[5];
    std::snprintf(escape, sizeof escape, "\\x%02x", static_cast<unsigned>(byte));
    text += escape;
  }
  return text + (name.size() > most ? "...'" : "'");
}

}  // namespace scaledot::cli
