// One path for one file, whichever way it is written.
#pragma once

#include <string>

namespace scaledot::cli {

// Where a file opened by `path` lies or, if there is none, where one written there would: links are
// followed, also one whose target is missing. What leads in a circle stays as it is.
std::string real_path(const std::string& path);

}  // namespace scaledot::cli
