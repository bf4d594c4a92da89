// The caller's floating-point mode, put aside while the library checks and plans.
#pragma once

#if defined(__x86_64__)
#include <xmmintrin.h>
#else
#include <cfenv>
#endif

namespace scaledot {

// Rounding to nearest, no traps, denormals as they are. The destructor puts the caller's mode and
// flags back, so that neither can be seen in the other's arithmetic.
class DefaultFloatMode {
 public:
  DefaultFloatMode() noexcept { put_aside(); }
  ~DefaultFloatMode() { put_back(); }

  // Calls code of the caller's in between, which may also change the mode and the flags.
  void lifted_for(const auto& work) noexcept {
    put_back();
    work();
    put_aside();
  }

  DefaultFloatMode(const DefaultFloatMode&) = delete;
  DefaultFloatMode& operator=(const DefaultFloatMode&) = delete;

 private:
#if defined(__x86_64__)
  // fesetenv() would set the x87 unit too, which takes longer and of which the library has no use.
  void put_aside() noexcept {
    before_ = _mm_getcsr();
    _mm_setcsr(0x1F80);
  }
  void put_back() noexcept { _mm_setcsr(before_); }

  unsigned before_;
#else
  void put_aside() noexcept {
    std::fegetenv(&before_);
    std::fesetenv(FE_DFL_ENV);
  }
  void put_back() noexcept { std::fesetenv(&before_); }

  std::fenv_t before_;
#endif
};

}  // namespace scaledot
