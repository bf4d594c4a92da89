// The caller's floating-point mode, put aside while the library checks and plans.
#pragma once

#include <cfenv>

namespace scaledot {

// Rounding to nearest, no traps, denormals as they are. The destructor puts the caller's mode and
// flags back, so that neither can be seen in the other's arithmetic.
class DefaultFloatMode {
 public:
  DefaultFloatMode() noexcept {
    std::fegetenv(&before_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~DefaultFloatMode() { std::fesetenv(&before_); }

  // Calls code of the caller's in between, which may also change the mode and the flags.
  void lifted_for(const auto& work) noexcept {
    std::fesetenv(&before_);
    work();
    std::fegetenv(&before_);
    std::fesetenv(FE_DFL_ENV);
  }

  DefaultFloatMode(const DefaultFloatMode&) = delete;
  DefaultFloatMode& operator=(const DefaultFloatMode&) = delete;

 private:
  std::fenv_t before_;
};

}  // namespace scaledot
