#include "measure/team.hpp"

namespace scaledot::measure {

Team::Team(int size) : size_(size) {
  for (int member = 1; member < size_; ++member)
    members_.emplace_back([this, member] { follow(member); });
}

Team::~Team() {
  work_ = nullptr;
  ++round_;
  round_.notify_all();
  for (std::thread& member : members_) member.join();
}

void Team::run(const std::function<void(int)>& work) {
  work_ = &work;
  working_ = size_ - 1;
  ++round_;
  round_.notify_all();
  work(0);
  for (int left = working_; left > 0; left = working_) working_.wait(left);
}

void Team::follow(int member) {
  for (int seen = 0;; ++seen) {
    round_.wait(seen);
    if (work_ == nullptr) return;
    (*work_)(member);
    if (--working_ == 0) working_.notify_one();
  }
}

}  // namespace scaledot::measure
