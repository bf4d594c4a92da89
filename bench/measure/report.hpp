// Results as JSON, with the same keys wherever they are written.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "measure/result.hpp"
#include "measure/shape.hpp"

namespace scaledot::measure {

using Json = nlohmann::ordered_json;

Json json_of(const Shape& shape);
Json json_of(const Result& result);

// The processor and what was found on it.
Json json_of_machine();

}  // namespace scaledot::measure
