// A line on stderr that says how far long work is, where a person sees it.
#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace scaledot::cli {

// "attend [######........]  43 %  12 s"; without a part, the work and the time.
std::string progress_text(const std::string& work, std::optional<double> part, int seconds);

// What a terminal needs to show `text` in place of `shown`, which then is it; nothing if they are
// the same, as a line that is written again and again flickers and fills a log of the terminal.
std::string redrawn(std::string& shown, const std::string& text);

// Whether stderr is a terminal.
bool is_progress_seen();

// Shows itself once the work takes a second, if it is seen, and wipes itself away at the end.
class Progress {
 public:
  explicit Progress(std::string work);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void advance(double part);  // what is done, 0 to 1

 private:
  void show(const std::stop_token& stop);

  std::string work_;
  std::mutex mutex_;
  std::optional<double> part_;
  std::condition_variable_any stopped_;
  std::jthread shower_;
};

}  // namespace scaledot::cli
