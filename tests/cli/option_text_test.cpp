// What the text after an option means.
#include "option_text.hpp"

#include <gtest/gtest.h>

#include "failure.hpp"

namespace scaledot::cli::tests {
namespace {

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
