#include "file_place.hpp"

#include <sys/stat.h>

#include <filesystem>
#include <system_error>

namespace scaledot::cli {

namespace fs = std::filesystem;

std::string followed(const std::string& path) {
  constexpr int most_links = 40;  // Linux follows as many
  fs::path end = path;
  for (int links = 0; links < most_links; ++links) {
    std::error_code is_no_link;
    const fs::path target = fs::read_symlink(end, is_no_link);
    if (is_no_link) break;
    end = end.parent_path() / target;
  }
  return end.string();
}

FilePlace file_place(const std::string& path) {
  const fs::path end = followed(path);
  const std::string folder = end.parent_path().string();
  struct stat facts;
  if (::stat(folder.empty() ? "." : folder.c_str(), &facts) != 0) return {0, 0, end.string()};
  return {facts.st_dev, facts.st_ino, end.filename().string()};
}

}  // namespace scaledot::cli
