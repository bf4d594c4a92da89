// What the text after an option means. Each refuses, naming the option and what it expects.
#pragma once

#include <string>

#include "scaledot/attention.hpp"

namespace scaledot::cli {

// Any number that f32 has, infinity and NaN included: whether they make sense is asked elsewhere.
// One that f32 would turn into infinity or 0 is refused.
float parse_number(const std::string& option, const std::string& text);

// A whole number from `least` to `most`.
Index parse_count(const std::string& option, const std::string& text, Index least, Index most);

// Two counts with a comma between them.
Window parse_window(const std::string& option, const std::string& text);

}  // namespace scaledot::cli
