#include "info.hpp"

#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

#include "measure/isa.hpp"
#include "scaledot/attention.hpp"
#include "scaledot/machine.hpp"

namespace scaledot::cli {

namespace {

using Json = nlohmann::ordered_json;

Json json_of(const Machine& machine) {
  Json sets = Json::array();
  for (const InstructionSet& set : machine.instruction_sets)
    sets.push_back({{"name", set.name}, {"in_use", set.in_use}, {"why_not", set.why_not}});
  return {{"version", version()},
          {"processor", machine.processor.data()},
          {"cores", machine.cores},
          {"threads", machine.threads},
          {"isa", measure::isa_for(Arithmetic::bf16)},
          {"instruction_sets", sets},
          {"amx_bf16", machine.amx_bf16},
          {"amx_granted", machine.amx_granted},
          {"l1_bytes", machine.l1_bytes},
          {"l2_bytes", machine.l2_bytes},
          {"l3_bytes", machine.l3_bytes}};
}

std::string cache_text(std::size_t bytes) {
  if (bytes == 0) return "unknown";
  const std::size_t kibibytes = bytes / 1024;
  return kibibytes % 1024 == 0 ? std::to_string(kibibytes / 1024) + " MiB"
                               : std::to_string(kibibytes) + " KiB";
}

void print(const Machine& machine) {
  std::printf("scaledot %s\n", version());
  std::printf("processor         %s\n", machine.processor.data());
  std::printf("cores             %d\n", machine.cores);
  std::printf("caches            L1 %s, L2 %s, L3 %s\n", cache_text(machine.l1_bytes).c_str(),
              cache_text(machine.l2_bytes).c_str(), cache_text(machine.l3_bytes).c_str());
  std::printf("AMX for bf16      %s\n", !machine.amx_bf16     ? "no"
                                        : machine.amx_granted ? "yes"
                                                              : "yes, but not granted");
  const char* title = "instruction sets";
  for (const InstructionSet& set : machine.instruction_sets) {
    std::printf("%-17s %-8s %s\n", title, set.name,
                set.in_use ? set.only_bf16 ? "in use for bf16" : "in use" : set.why_not);
    title = "";
  }
}

// What the environment asks for is checked with each call; this one computes nothing.
Status check_environment() {
  std::size_t bytes;
  const Tensor empty = contiguous(nullptr, DType::f32, {0, 0});
  return workspace_bytes(empty, empty, empty, {empty, {}, {}}, {}, bytes);
}

}  // namespace

CLI::App* add_info(CLI::App& app, InfoArguments& arguments) {
  CLI::App* info = app.add_subcommand("info", "Say what scaledot found on this machine");
  info->add_flag("--json", arguments.json, "Print JSON")->disable_flag_override();
  info->footer(
      "SCALEDOT_ISA chooses an instruction set, for every command.\n"
      "\n"
      "Example: what is there without AVX-512\n"
      "  SCALEDOT_ISA=avx2 scaledot info");
  return info;
}

ExitCode run_info(const InfoArguments& arguments) {
  if (const Status status = check_environment(); !status.ok()) refuse(describe(status));
  const Machine found = machine();
  if (arguments.json)
    std::printf("%s\n", json_of(found).dump(2, ' ', false, Json::error_handler_t::replace).c_str());
  else
    print(found);
  return ExitCode::ok;
}

}  // namespace scaledot::cli
