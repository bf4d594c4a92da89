#include "progress.hpp"

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <system_error>
#include <utility>

namespace scaledot::cli {

std::string progress_text(const std::string& work, std::optional<double> part, int seconds) {
  std::string text = work;
  if (part) {
    constexpr int width = 24;
    const auto full = static_cast<std::size_t>(*part * width);
    char percent[8];
    std::snprintf(percent, sizeof percent, "%3.0f", *part * 100);
    text += " [" + std::string(full, '#') + std::string(width - full, '.') + "] " + percent + " %";
  }
  return text + "  " + std::to_string(seconds) + " s";
}

std::string redrawn(std::string& shown, const std::string& text) {
  if (text == shown) return "";
  shown = text;
  return "\r\033[K" + text;
}

bool is_progress_seen() { return ::isatty(STDERR_FILENO) != 0; }

Progress::Progress(std::string work) : work_(std::move(work)) {
  if (!is_progress_seen()) return;
  try {
    shower_ = std::jthread([this](const std::stop_token& stop) { show(stop); });
  } catch (const std::system_error&) {
    // The work goes on without a line.
  }
}

Progress::~Progress() {
  if (!shower_.joinable()) return;
  shower_.request_stop();
  shower_.join();
}

void Progress::advance(double part) {
  const std::lock_guard lock(mutex_);
  part_ = part;
}

void Progress::show(const std::stop_token& stop) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  std::string shown;
  for (auto pause = std::chrono::milliseconds(1000);; pause = std::chrono::milliseconds(200)) {
    std::unique_lock lock(mutex_);
    if (stopped_.wait_for(lock, stop, pause, [&stop] { return stop.stop_requested(); })) break;
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - start);
    const std::string text = progress_text(work_, part_, static_cast<int>(seconds.count()));
    std::fputs(redrawn(shown, text).c_str(), stderr);
  }
  std::fputs(redrawn(shown, "").c_str(), stderr);
}

}  // namespace scaledot::cli
