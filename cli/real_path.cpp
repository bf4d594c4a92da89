#include "real_path.hpp"

#include <filesystem>
#include <system_error>

namespace scaledot::cli {

std::string real_path(const std::string& path) {
  namespace fs = std::filesystem;
  constexpr int most_links = 40;  // Linux follows as many
  std::error_code error;
  fs::path real = path;
  // weakly_canonical() follows the links of what is there, which a link without a target is not.
  for (int links = 0; links < most_links && fs::is_symlink(fs::symlink_status(real, error));
       ++links)
    real = real.parent_path() / fs::read_symlink(real, error);
  real = fs::weakly_canonical(real, error);
  return error ? path : real.string();
}

}  // namespace scaledot::cli
