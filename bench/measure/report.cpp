#include "measure/report.hpp"

#include "measure/isa.hpp"

namespace scaledot::measure {

Json json_of(const Shape& shape) {
  return {{"batch", shape.batch},
          {"heads", shape.heads},
          {"key_heads", shape.key_heads},
          {"queries", shape.queries},
          {"keys", shape.keys},
          {"head_dim", shape.head_dim},
          {"value_dim", shape.value_dim},
          {"causal", name_of(shape.causal)},
          {"window", {shape.window.left, shape.window.right}},
          {"dtype", name_of(shape.dtype)},
          {"arithmetic", name_of(resolved_arithmetic(shape))},
          {"threads", shape.threads}};
}

Json json_of(const Result& result) {
  Json json = {{"microseconds", result.microseconds},
               {"best_microseconds", result.best_microseconds},
               {"spread", result.spread},
               {"repetitions", result.repetitions},
               {"gflops", result.gflops},
               {"peak_gflops", result.peak_gflops},
               {"fraction_of_peak", result.fraction_of_peak},
               {"bandwidth_gbytes", result.bandwidth_gbytes},
               {"fraction_of_bandwidth", nullptr}};
  if (result.fraction_of_bandwidth) json["fraction_of_bandwidth"] = *result.fraction_of_bandwidth;
  return json;
}

Json json_of_machine() {
  const Machine found = machine();
  Json json = {{"processor", found.processor.data()},
               {"cores", found.cores},
               {"l1_bytes", found.l1_bytes},
               {"l2_bytes", found.l2_bytes},
               {"l3_bytes", found.l3_bytes},
               {"amx_bf16", found.amx_bf16},
               {"isa", nullptr}};
  const std::string best = isa_for(Arithmetic::bf16);
  if (!best.empty()) json["isa"] = best;
  return json;
}

}  // namespace scaledot::measure
