// The compiler of this build, as results name it.
#pragma once

namespace scaledot::bench {

#if defined(__clang__)
inline constexpr const char* compiler = "clang " __clang_version__;
#else
inline constexpr const char* compiler = "g++ " __VERSION__;
#endif

}  // namespace scaledot::bench
