// Measures the list of shapes that the README's table shows, beside OpenBLAS and plain loops.
#include <CLI/CLI.hpp>

#include <cctype>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "compiler.hpp"
#include "measure/isa.hpp"
#include "measure/measure.hpp"
#include "measure/progress_line.hpp"
#include "measure/report.hpp"
#include "rivals.hpp"
#include "scaledot/machine.hpp"

namespace scaledot::bench {

namespace {

using measure::Json;
using measure::Measured;
using measure::Shape;

constexpr Index long_length = 16384;    // one head is enough there
constexpr Index naive_length = 2048;    // more takes plain loops too long
constexpr Index naive_all_heads = 128;  // above, one head is enough for them

std::vector<Shape> shapes(Index longest) {
  std::vector<Shape> list;
  for (const DType dtype : {DType::f32, DType::bf16})
    for (const int threads : {1, 2})
      for (const Index dim : {64, 128})
        for (const Index length : {Index{128}, Index{512}, Index{2048}, long_length})
          for (const Causal causal : {Causal::off, Causal::top_left}) {
            Shape shape;
            shape.heads = shape.key_heads = length < long_length ? 8 : 1;
            shape.queries = shape.keys = length;
            shape.head_dim = shape.value_dim = dim;
            shape.causal = causal;
            shape.dtype = dtype;
            shape.threads = threads;
            if (length <= longest) list.push_back(shape);
          }
  return list;
}

// The rivals that are feasible for the shape, in the order of `names`.
struct Rivals {
  std::vector<measure::Contestant> contestants;
  std::vector<Index> heads;  // that each computes
};

Rivals rivals(measure::Tensors& tensors, const OpenBlas* blas, measure::Team& team) {
  const Shape& shape = tensors.shape();
  Rivals rivals;
  if (shape.dtype != DType::f32) return rivals;
  if (blas != nullptr) {
    rivals.contestants.push_back(
        {"openblas", [&tensors, blas, &team] { blas->attend(tensors, team); }});
    rivals.heads.push_back(shape.heads);
  }
  if (shape.threads == 1 && shape.queries <= naive_length) {
    const Index heads = shape.queries <= naive_all_heads ? shape.heads : 1;
    rivals.contestants.push_back({"naive", [&tensors, heads] { naive_attention(tensors, heads); },
                                  static_cast<double>(heads) / static_cast<double>(shape.heads)});
    rivals.heads.push_back(heads);
  }
  return rivals;
}

void print_heading() {
  std::printf(
      "                                                                       %% of peak\n"
      "dtype  head_dim  length  causal  heads  threads       us  GFLOP/s  "
      "scaledot  openblas  naive\n");
}

void print_row(const Json& row) {
  const auto percent = [&row](const char* rival) {
    const Json& rivals = row.at("rivals");
    if (!rivals.contains(rival)) return std::string("-");
    char text[16];
    std::snprintf(text, sizeof text, "%.1f",
                  rivals.at(rival).at("fraction_of_peak").get<double>() * 100);
    return std::string(text);
  };
  std::printf("%-5s  %8lld  %6lld  %-6s  %5lld  %7d  %7.0f  %7.1f  %8.1f  %8s  %5s\n",
              row.at("dtype").get<std::string>().c_str(), row.at("head_dim").get<long long>(),
              row.at("queries").get<long long>(), row.at("causal") == "off" ? "no" : "yes",
              row.at("heads").get<long long>(), row.at("threads").get<int>(),
              row.at("microseconds").get<double>(), row.at("gflops").get<double>(),
              row.at("fraction_of_peak").get<double>() * 100, percent("openblas").c_str(),
              percent("naive").c_str());
  std::fflush(stdout);
}

Json measure_row(const Shape& shape, const OpenBlas* blas, const std::string& place) {
  measure::Tensors tensors(shape);
  measure::Team team(shape.threads);
  const Rivals others = rivals(tensors, blas, team);
  const Measured measured =
      measure::measure(tensors, others.contestants, {}, measure::ProgressLine(place));
  if (!measured.status.ok()) throw std::runtime_error(describe(measured.status));
  if (!measured.fault.empty()) throw std::runtime_error(measured.fault);
  Json row = measure::json_of(shape);
  row.update(measure::json_of(measured.results.front()));
  row["isa"] = measure::isa_for(measure::resolved_arithmetic(shape));
  row["rivals"] = Json::object();
  for (std::size_t r = 0; r < others.contestants.size(); ++r) {
    Json& rival = row["rivals"][others.contestants[r].name];
    rival["heads"] = others.heads[r];
    rival.update(measure::json_of(measured.results[r + 1]));
  }
  return row;
}

// The processor's name as a file's: letters, digits and single dashes.
std::string file_name(const std::string& processor) {
  std::string name;
  for (const char c : processor) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    else if (!name.empty() && name.back() != '-')
      name += '-';
  }
  while (!name.empty() && name.back() == '-') name.pop_back();
  return (name.empty() ? "unknown" : name) + ".json";
}

Json json_of_openblas(const OpenBlas* blas) {
  if (blas == nullptr) return nullptr;
  return {{"version", blas->version()}, {"core", blas->core()}, {"own_choice", blas->own_choice()}};
}

// One line a row, so that two results can be compared line by line.
void write(const Json& all, const std::string& results) {
  std::filesystem::create_directories(results);
  const auto path = std::filesystem::path(results) / file_name(machine().processor.data());
  std::ofstream file(path);
  file << "{\n";
  for (const auto& [name, value] : all.items())
    if (name != "rows") file << Json(name).dump() << ": " << value.dump() << ",\n";
  file << "\"rows\": [";
  const char* separator = "\n";
  for (const Json& row : all.at("rows")) {
    file << separator << row.dump();
    separator = ",\n";
  }
  if (!(file << "\n]}\n").flush()) throw std::runtime_error("cannot write " + path.string());
  std::printf("written to %s\n", path.string().c_str());
}

void run(Index longest, const std::string& results) {
  const auto blas = OpenBlas::load();
  Json all = {{"machine", measure::json_of_machine()},
              {"scaledot", version()},
              {"compiler", compiler},
              {"cache", "warm"},
              {"openblas", json_of_openblas(blas.get())},
              {"rows", Json::array()}};
  std::printf("%s, %s, compiler %s\n", machine().processor.data(), measure::loops_in_use()->isa,
              compiler);
  if (blas == nullptr) std::printf("OpenBLAS is not installed.\n");
  if (blas != nullptr)
    std::printf("OpenBLAS uses its core %s (left alone: %s)\n", blas->core().c_str(),
                blas->own_choice().c_str());
  print_heading();
  const std::vector<Shape> list = shapes(longest);
  for (std::size_t n = 0; n < list.size(); ++n) {
    const std::string place = std::to_string(n + 1) + " of " + std::to_string(list.size());
    all["rows"].push_back(measure_row(list[n], blas.get(), place));
    print_row(all["rows"].back());
  }
  if (!results.empty()) write(all, results);
}

}  // namespace

}  // namespace scaledot::bench

int main(int argc, char** argv) {
  CLI::App app{
      "Measures attention beside OpenBLAS and plain loops, in % of the peak measured in "
      "between."};
  scaledot::Index longest = scaledot::bench::long_length;
  std::string results;
  app.add_option("--longest", longest, "Leave out lengths above this one")->capture_default_str();
  app.add_option("--results", results, "Write JSON into this directory, named by the processor");
  CLI11_PARSE(app, argc, argv);
  try {
    if (scaledot::measure::loops_in_use() == nullptr)
      throw std::runtime_error("no usable instruction set; see `scaledot info`");
    scaledot::bench::run(longest, results);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "scaledot_bench: %s\n", error.what());
    return 1;
  }
}
