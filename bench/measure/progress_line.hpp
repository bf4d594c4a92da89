// A line on stderr that says how far something is, where a person sees it.
#pragma once

#include <unistd.h>

#include <cstdio>
#include <string>
#include <utility>

namespace scaledot::measure {

class ProgressLine {
 public:
  explicit ProgressLine(std::string what) : what_(std::move(what)) {}

  // The part that is done, 0 to 1. At 1 the line disappears.
  void operator()(double part) const {
    if (isatty(STDERR_FILENO) == 0) return;
    if (part < 1) std::fprintf(stderr, "\r%s: %3.0f %%", what_.c_str(), part * 100);
    if (part >= 1) std::fputs("\r\033[K", stderr);
  }

 private:
  std::string what_;
};

}  // namespace scaledot::measure
