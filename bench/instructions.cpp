// Calls attend() on one thread once for each of a few cases, and names them in that order, for
// count_instructions.py.
#include <cstdio>
#include <string>
#include <vector>

#include "compiler.hpp"
#include "measure/tensors.hpp"

namespace scaledot::bench {

namespace {

using measure::Shape;

enum class More { nothing, large_logits, softcap, mask, bias };

struct Case {
  std::string name;
  Shape shape;
  More more = More::nothing;
};

Shape square(DType dtype, Index length, Index dim, Causal causal = Causal::off) {
  Shape shape;
  shape.heads = shape.key_heads = 1;
  shape.queries = shape.keys = length;
  shape.head_dim = shape.value_dim = dim;
  shape.dtype = dtype;
  shape.causal = causal;
  return shape;
}

Shape decoding(DType dtype, Index heads, Index keys) {
  Shape shape = square(dtype, 1, 128);
  shape.heads = heads;
  shape.key_heads = 8;
  shape.keys = keys;
  return shape;
}

std::vector<Case> cases() {
  return {
      {"f32_1_dim_1", square(DType::f32, 1, 1)},
      {"f32_16_dim_16", square(DType::f32, 16, 16)},
      {"f32_512_dim_64", square(DType::f32, 512, 64)},
      {"f32_256_dim_64_causal", square(DType::f32, 256, 64, Causal::top_left)},
      {"f32_256_dim_64_large_logits", square(DType::f32, 256, 64), More::large_logits},
      {"f32_256_dim_64_softcap", square(DType::f32, 256, 64), More::softcap},
      {"f32_256_dim_64_mask", square(DType::f32, 256, 64), More::mask},
      {"f32_256_dim_64_bias", square(DType::f32, 256, 64), More::bias},
      {"bf16_256_dim_64", square(DType::bf16, 256, 64)},
      {"f16_256_dim_128", square(DType::f16, 256, 128)},
      {"f32_decoding_8_heads", decoding(DType::f32, 8, 1024)},
      {"f16_decoding_32_heads_on_8", decoding(DType::f16, 32, 1024)},
  };
}

}  // namespace

// False if attend() refuses. count_instructions.py knows it by this name.
[[gnu::noinline]] bool counted_call(const Case& one) {
  const measure::Tensors tensors(one.shape);
  const Index queries = one.shape.queries, keys = one.shape.keys;
  std::vector<unsigned char> mask;  // [queries, keys], one key in five hidden
  std::vector<float> bias;          // as ALiBi has it: falls with the distance
  Options options = measure::options_of(one.shape);
  if (one.more == More::large_logits) options.scale = 4.0f;
  if (one.more == More::softcap) options.softcap = 20;
  if (one.more == More::mask) {
    for (Index n = 0; n < queries * keys; ++n) mask.push_back(n % 5 != 0);
    options.mask = contiguous(mask.data(), DType::boolean, {queries, keys});
  }
  if (one.more == More::bias) {
    for (Index n = 0; n < queries * keys; ++n)
      bias.push_back(static_cast<float>(n % keys - n / keys) / 16);
    options.bias = contiguous(bias.data(), DType::f32, {queries, keys});
  }
  const Status status =
      attend(tensors.query(), tensors.key(), tensors.value(), {tensors.output(), {}, {}}, options);
  if (!status.ok()) std::fprintf(stderr, "%s: %s\n", one.name.c_str(), describe(status).c_str());
  return status.ok();
}

}  // namespace scaledot::bench

int main() {
  using namespace scaledot;
  std::printf("compiler %s\n", bench::compiler);
  std::printf("call the_first_of_the_process\n");  // which alone asks the processor and links
  if (!bench::counted_call(bench::cases().front())) return 1;
  for (const bench::Case& one : bench::cases()) {
    std::printf("call %s\n", one.name.c_str());
    if (!bench::counted_call(one)) return 1;
  }
  return 0;
}
