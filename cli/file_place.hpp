// Where a path leads, without a path of the working folder: that may be longer than a path can be.
#pragma once

#include <sys/types.h>

#include <compare>
#include <string>

namespace scaledot::cli {

// The path of the file that is opened by `path` or, if there is none, would be made: links at its
// end are followed, also one whose target is missing. What leads in a circle still does.
std::string followed(const std::string& path);

// The same for each path of one file, whether or not it exists; and no other file's, as long as
// folders are not moved.
struct FilePlace {
  dev_t device = 0;  // that the folder is on
  ino_t folder = 0;  // 0 and the whole path as the name if the folder is missing
  std::string name;

  auto operator<=>(const FilePlace&) const = default;
};
FilePlace file_place(const std::string& path);

}  // namespace scaledot::cli
