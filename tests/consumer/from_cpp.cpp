// Two keys with equal logits: the output is the mean of their values, the lse is ln 2.
#include <cmath>
#include <cstdio>

#include <scaledot/attention.hpp>
#include <scaledot/machine.hpp>

int main() {
  const float query[] = {0, 0, 0};
  const float key[] = {1, 2, 3, 4, 5, 6};
  const float value[] = {1, 10, 3, 30};
  float output[] = {0, 0};
  float lse = 0;

  using scaledot::contiguous;
  constexpr auto f32 = scaledot::DType::f32;
  scaledot::Outputs outputs;
  outputs.output = contiguous(output, f32, {1, 2});
  outputs.lse = contiguous(&lse, f32, {1});
  const scaledot::Status status =
      scaledot::attend(contiguous(query, f32, {1, 3}), contiguous(key, f32, {2, 3}),
                       contiguous(value, f32, {2, 2}), outputs);

  std::printf("scaledot %s: %s, output %g %g, lse %g\n", scaledot::version(),
              status.ok() ? "ok" : scaledot::describe(status).c_str(), double{output[0]},
              double{output[1]}, double{lse});
  const bool right = output[0] == 2 && output[1] == 20 && std::abs(lse - std::log(2.0f)) < 1e-6f;
  return status.ok() && right ? 0 : 1;
}
