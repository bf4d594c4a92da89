#include "measure/ceiling.hpp"

#include <chrono>
#include <ctime>
#include <functional>
#include <numeric>
#include <thread>

namespace scaledot::measure {

namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr Seconds warm_up{1e-3};  // a core needs a while to power its wide units
constexpr Seconds duration{4e-3};

// What the team does a second: `once` returns how much it did, and is called again and again.
double rate(Team& team, const std::function<double(int)>& once) {
  std::vector<double> rates(static_cast<std::size_t>(team.size()));
  team.run([&](int member) {
    for (const auto begin = Clock::now(); Clock::now() - begin < warm_up;) once(member);
    const auto begin = Clock::now();
    Seconds elapsed{0};
    double done = 0;
    while (elapsed < duration) {
      done += once(member);
      elapsed = Clock::now() - begin;
    }
    rates[static_cast<std::size_t>(member)] = done / elapsed.count();
  });
  return std::accumulate(rates.begin(), rates.end(), 0.0);
}

}  // namespace

double peak_flops(Team& team, const Loops& loops) {
  constexpr Index steps = 2048;
  return rate(team, [&loops](int) {
    loops.multiply_add(steps);
    return static_cast<double>(steps * loops.flops);
  });
}

double read_bytes(Team& team, const Loops& loops,
                  std::span<const std::span<const std::byte>> pieces) {
  constexpr std::size_t line = 64;
  return rate(team, [&](int member) {
    double done = 0;
    for (const auto piece : pieces) {
      const std::size_t lines = piece.size() / line, size = static_cast<std::size_t>(team.size());
      const std::size_t first = lines * static_cast<std::size_t>(member) / size;
      const std::size_t last = lines * static_cast<std::size_t>(member + 1) / size;
      loops.read(piece.data() + first * line, (last - first) * line);
      done += static_cast<double>((last - first) * line);
    }
    return done;
  });
}

void settle() {
  constexpr Seconds nap{300e-6};
  for (int tries = 0; tries < 200; ++tries) {
    const std::clock_t before = std::clock();
    std::this_thread::sleep_for(nap);
    const double busy = static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
    if (busy < nap.count() / 4) return;
  }
}

}  // namespace scaledot::measure
