#include "option_text.hpp"

#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string_view>
#include <system_error>

#include "failure.hpp"

namespace scaledot::cli {

namespace {

[[noreturn]] void refuse_text(const std::string& option, const std::string& text,
                              const std::string& expected) {
  refuse(option + " is " + in_quotes(text) + ", expected " + expected);
}

// Reads a count from the start of `text` and takes it away; whether there is one.
bool take_count(std::string_view& text, Index& count, std::errc& error) {
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (fault != std::errc()) error = fault;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return fault != std::errc::invalid_argument;
}

}  // namespace

float parse_number(const std::string& option, const std::string& text) {
  char* end = nullptr;
  errno = 0;
  const float number = std::strtof(text.c_str(), &end);
  if (end == text.c_str() || *end != '\0') refuse_text(option, text, "a number");
  // 0 means something else than a small number does: a softcap of 0 is none.
  if (errno == ERANGE && (std::isinf(number) || number == 0))
    refuse_text(option, text, "a number in f32's range");
  return number;
}

Index parse_count(const std::string& option, const std::string& text, Index least, Index most) {
  std::string_view rest = text;
  std::errc error{};
  Index count = 0;
  const bool is_count = take_count(rest, count, error) && rest.empty();
  if (!is_count || error != std::errc() || count < least || count > most)
    refuse_text(option, text,
                "a whole number from " + std::to_string(least) + " to " + std::to_string(most));
  return count;
}

Window parse_window(const std::string& option, const std::string& text) {
  std::string_view rest = text;
  std::errc error{};
  Window window;
  bool is_window = take_count(rest, window.left, error) && rest.starts_with(',');
  if (is_window) rest.remove_prefix(1);
  is_window = is_window && take_count(rest, window.right, error) && rest.empty();
  if (!is_window) refuse_text(option, text, "LEFT,RIGHT: two whole numbers, -1 for unlimited");
  if (error != std::errc())
    refuse(option + " is " + in_quotes(text) + ", which is out of range: expected at most " +
           std::to_string(std::numeric_limits<Index>::max()) + ", or -1 for unlimited");
  return window;
}

}  // namespace scaledot::cli
