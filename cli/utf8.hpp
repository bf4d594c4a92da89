// Names of tensors are text, and files hold text as UTF-8.
#pragma once

#include <string>

namespace scaledot::cli {

bool is_utf8(const std::string& text);

}  // namespace scaledot::cli
