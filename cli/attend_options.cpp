#include <map>

#include "attend.hpp"
#include "option_text.hpp"

namespace scaledot::cli {

namespace {

void add_files(CLI::App& attend, AttendArguments& arguments) {
  const auto add = [&attend](const char* name, std::string& file, const char* meaning) {
    return attend.add_option(name, file, meaning)->type_name("FILE");
  };
  add("--query", arguments.query, "[batch, head, query, dim], [head, query, dim] or [query, dim]")
      ->required();
  add("--key", arguments.key, "As query; query heads are a multiple of its heads")->required();
  add("--value", arguments.value, "As key; its dim may be another one")->required();
  add("--output", arguments.output, "Where the result goes, shaped like query")->required();
  add("--lse", arguments.lse, "Where the log of the sum of exp(logits) goes, f32");
  add("--weights", arguments.weights, "Where softmax(logits) goes, [..., query, key]");
  add("--mask", arguments.mask, "Boolean, true = seen; broadcasts from the right");
  add("--bias", arguments.bias, "Added to the logits, -inf hides; broadcasts from the right");
  add("--key-lengths", arguments.key_lengths, "Integers, one a batch entry: how many keys it has");
}

void add_numbers(CLI::App& attend, Options& options) {
  const auto add = [&attend](const std::string& name, const char* type, const char* meaning,
                             const auto& take) {
    attend
        .add_option_function<std::string>(
            name, [name, take](const std::string& text) { take(name, text); }, meaning)
        ->type_name(type);
  };
  add("--scale", "X", "Multiplies query . key [1 / sqrt(head_dim)]",
      [&options](const std::string& name, const std::string& text) {
        options.scale = parse_number(name, text);
      });
  add("--softcap", "X", "Logits become X * tanh(logit / X); 0 is off",
      [&options](const std::string& name, const std::string& text) {
        options.softcap = parse_number(name, text);
      });
  add("--window", "LEFT,RIGHT",
      "Keys seen to both sides of the diagonal, both ends included; -1 is unlimited",
      [&options](const std::string& name, const std::string& text) {
        options.window = parse_window(name, text);
      });
  add("--threads", "N", "0: SCALEDOT_THREADS, or one a core",
      [&options](const std::string& name, const std::string& text) {
        options.threads = static_cast<int>(parse_count(name, text, 0, most_threads));
      });
}

void add_choices(CLI::App& attend, Options& options) {
  using Causals = std::map<std::string, Causal>;
  const Causals causals{
      {"off", Causal::off}, {"top_left", Causal::top_left}, {"bottom_right", Causal::bottom_right}};
  attend
      .add_option_function<std::string>(
          "--causal",
          [&options, causals](const std::string& word) { options.causal = causals.at(word); },
          "Which diagonal a query may not look beyond")
      ->type_name("off|top_left|bottom_right")
      ->check(CLI::IsMember(causals).description(""));
  using Arithmetics = std::map<std::string, Arithmetic>;
  const Arithmetics arithmetics{
      {"automatic", Arithmetic::automatic}, {"f32", Arithmetic::f32}, {"bf16", Arithmetic::bf16}};
  attend
      .add_option_function<std::string>(
          "--arithmetic",
          [&options, arithmetics](const std::string& word) {
            options.arithmetic = arithmetics.at(word);
          },
          "How sums and products are rounded")
      ->type_name("automatic|f32|bf16")
      ->check(CLI::IsMember(arithmetics).description(""));
}

}  // namespace

CLI::App* add_attend(CLI::App& app, AttendArguments& arguments) {
  CLI::App* attend = app.add_subcommand("attend", "Compute attention on tensors in files");
  add_files(*attend, arguments);
  add_numbers(*attend, arguments.options);
  add_choices(*attend, arguments.options);
  attend->add_flag("--json", arguments.json, "Print JSON")->disable_flag_override();
  attend->footer(
      "FILE is file.npy, file.npz:name or file.safetensors:name. The types are f32, f16 and bf16;\n"
      "f64 is rounded to f32. The results have the type of query.\n"
      "\n"
      "Example: one causal head of a model, and which keys it looks at\n"
      "  scaledot attend --query qkv.npz:q --key qkv.npz:k --value qkv.npz:v \\\n"
      "      --causal bottom_right --output out.npy --weights weights.npy");
  return attend;
}

}  // namespace scaledot::cli
