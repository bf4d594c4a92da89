#include "utf8.hpp"

#include <nlohmann/json.hpp>

namespace scaledot::cli {

bool is_utf8(const std::string& text) try {
  return !nlohmann::json(text).dump().empty();
} catch (const nlohmann::json::type_error&) {
  return false;  // JSON has no other text
}

}  // namespace scaledot::cli
