// What the text after an option means.
#include "option_text.hpp"

#include <gtest/gtest.h>

#include "failure.hpp"

namespace scaledot::cli::tests {
namespace {

TEST(OptionText, CountsAreDecimal) {
  EXPECT_EQ(parse_count("--threads", "010", 0, 100), 10);
  EXPECT_EQ(parse_count("--threads", "0099", 0, 100), 99);
  const Window window = parse_window("--window", "010,-01");
  EXPECT_EQ(window.left, 10);
  EXPECT_EQ(window.right, -1);
  for (const char* text : {"0x10", "0b1", "1'000", "1e2", " 1", "1 ", "+1", ""})
    EXPECT_THROW(parse_count("--threads", text, 0, 10000), Failure) << text;
}

TEST(OptionText, ANumberIsNotRoundedTo0) {
  for (const char* text : {"0", "-0", "0e-99", "0x0p0"})
    EXPECT_EQ(parse_number("--scale", text), 0) << text;
  EXPECT_EQ(parse_number("--scale", "1e-40"), 1e-40f);
  EXPECT_EQ(parse_number("--scale", "-0x1p-149"), -0x1p-149f);
  for (const char* text : {"1e-50", "-1e-50", "0x1p-151", "1e-999999999"})
    EXPECT_THROW(parse_number("--scale", text), Failure) << text;
}

}  // namespace
}  // namespace scaledot::cli::tests
