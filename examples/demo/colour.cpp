#include <algorithm>
#include <cmath>

#include "heat_map.hpp"

namespace scaledot::demo {
namespace {

constexpr Colour ramp[] = {{255, 255, 255}, {116, 173, 221}, {9, 38, 92}};  // at 0, 1/2 and 1

int between(int low, int high, float part) {
  return low + static_cast<int>(std::lround(part * static_cast<float>(high - low)));
}

}  // namespace

Colour colour_of(float weight) {
  const float place = 2 * std::clamp(weight, 0.0f, 1.0f);
  const int step = place < 1 ? 0 : 1;
  const float part = place - static_cast<float>(step);
  const Colour& low = ramp[step];
  const Colour& high = ramp[step + 1];
  return {between(low.red, high.red, part), between(low.green, high.green, part),
          between(low.blue, high.blue, part)};
}

bool is_dark(Colour colour) {
  return 299 * colour.red + 587 * colour.green + 114 * colour.blue < 140 * 1000;  // luma
}

}  // namespace scaledot::demo
