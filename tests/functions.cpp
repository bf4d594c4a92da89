// Which lists this build has.
#include "functions.hpp"

#include <cstring>
#include <string>

namespace scaledot::tests {

const Function* functions_of(const char* table) {
  const std::string name = table;
  if (name == "scalar") return scalar_functions;
#if defined(__x86_64__)
  if (name == "avx2") return avx2_functions;
  if (name == "avx512") return avx512_functions;
  if (name == "amx") return amx_functions;
#elif defined(__aarch64__)
  if (name == "neon") return neon_functions;
#endif
  return nullptr;
}

const Function& function(const Function* list, const char* name) {
  while (std::strcmp(list->name, name) != 0) ++list;
  return *list;
}

}  // namespace scaledot::tests
