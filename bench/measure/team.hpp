// A fixed number of threads that do one thing at a time, together.
#pragma once

#include <atomic>
#include <functional>
#include <thread>
#include <vector>

namespace scaledot::measure {

class Team {
 public:
  // `size` threads, the caller one of them.
  explicit Team(int size);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  int size() const { return size_; }

  // Calls work(0) to work(size - 1), each on a thread of its own, and returns after the last.
  void run(const std::function<void(int)>& work);

 private:
  void follow(int member);

  int size_;
  std::atomic<int> round_{0}, working_{0};
  const std::function<void(int)>* work_ = nullptr;  // null: go home
  std::vector<std::thread> members_;
};

}  // namespace scaledot::measure
