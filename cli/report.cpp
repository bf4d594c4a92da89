#include "report.hpp"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>

#include "in_use.hpp"
#include "measure/isa.hpp"

namespace scaledot::cli {

namespace {

using Json = nlohmann::ordered_json;

Json json_of(const std::string& file, const Array& array, Element in_file) {
  return {{"file", file}, {"dtype", name_of(in_file)}, {"shape", array.extents}};
}

Json json_of(const std::string& file, const Array& written) {
  return json_of(file, written, written.element);
}

float scale_of(const Report& report) {
  const auto head_dim = static_cast<double>(report.inputs.query.extents.back());
  const auto standard = head_dim == 0 ? 1.0f : static_cast<float>(1 / std::sqrt(head_dim));
  return report.arguments.options.scale.value_or(standard);
}

Arithmetic arithmetic_of(const Report& report) {
  const bool all_bf16 = report.inputs.query.element == Element::bf16 &&
                        report.inputs.key.element == Element::bf16 &&
                        report.inputs.value.element == Element::bf16;
  return all_bf16 && report.arguments.options.arithmetic != Arithmetic::f32 ? Arithmetic::bf16
                                                                            : Arithmetic::f32;
}

const char* name_of(Causal causal) {
  constexpr const char* names[] = {"off", "top_left", "bottom_right"};
  return names[static_cast<std::size_t>(causal)];
}

// Everything the result depends on, and where and how fast it was computed.
Json json_of(const Report& report) {
  const auto& [arguments, inputs, results, notes, microseconds] = report;
  const Options& options = arguments.options;
  Json json{{"query", json_of(arguments.query, inputs.query, inputs.in_file.at("query"))},
            {"key", json_of(arguments.key, inputs.key, inputs.in_file.at("key"))},
            {"value", json_of(arguments.value, inputs.value, inputs.in_file.at("value"))},
            {"output", json_of(arguments.output, results.output)}};
  if (results.lse) json["lse"] = json_of(arguments.lse, *results.lse);
  if (results.weights) json["weights"] = json_of(arguments.weights, *results.weights);
  if (inputs.mask) json["mask"] = json_of(arguments.mask, *inputs.mask);
  if (inputs.bias) json["bias"] = json_of(arguments.bias, *inputs.bias, inputs.in_file.at("bias"));
  if (inputs.key_lengths) json["key_lengths"] = *inputs.key_lengths;
  json.update({{"scale", scale_of(report)},
               {"softcap", options.softcap},
               {"causal", name_of(options.causal)},
               {"window", {options.window.left, options.window.right}},
               {"arithmetic", arithmetic_of(report) == Arithmetic::bf16 ? "bf16" : "f32"},
               {"isa", measure::isa_for(arithmetic_of(report))},
               {"threads", threads_in_use(options.threads)},
               {"microseconds", microseconds},
               {"notes", notes}});
  return json;
}

void print_line(const std::string& file, const Array& array) {
  std::printf("%s: %s %s\n", file.c_str(), name_of(array.element),
              shape_text(array.extents).c_str());
}

}  // namespace

void report(const Report& report) {
  const AttendArguments& arguments = report.arguments;
  if (arguments.json) {
    const std::string text = json_of(report).dump(2, ' ', false, Json::error_handler_t::replace);
    std::printf("%s\n", text.c_str());
    return;
  }
  print_line(arguments.output, report.results.output);
  if (report.results.lse) print_line(arguments.lse, *report.results.lse);
  if (report.results.weights) print_line(arguments.weights, *report.results.weights);
}

}  // namespace scaledot::cli
