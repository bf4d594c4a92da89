#include "attend.hpp"

#include <chrono>
#include <cstdio>
#include <new>
#include <utility>

#include "call.hpp"
#include "inputs.hpp"
#include "progress.hpp"
#include "report.hpp"
#include "tensor_file.hpp"

namespace scaledot::cli {

namespace {

// `extents` with another last one.
std::vector<Index> with_last(std::vector<Index> extents, Index last) {
  if (!extents.empty()) extents.back() = last;
  return extents;
}

Index extent_of(const Array& array, std::size_t from_right) {
  const std::size_t rank = array.extents.size();
  return from_right < rank ? array.extents[rank - 1 - from_right] : 0;
}

Array result_of(const char* argument, Element element, std::vector<Index> extents) try {
  return zeros(element, extents);
} catch (const std::bad_alloc&) {
  fail(std::string("out of memory: ") + argument + ' ' + name_of(element) + ' ' +
       shape_text(extents));
}

// The results, shaped as the call needs them if the inputs fit together.
Results results_for(const Inputs& inputs, const AttendArguments& arguments) {
  std::vector<Index> shape = inputs.query.extents;
  if (shape.size() > 4) shape.resize(4);  // the library refuses such a query
  // The library has a word for a boolean query, and it is not about the output.
  const bool is_boolean = inputs.query.element == Element::boolean;
  const Element element = is_boolean ? Element::f32 : inputs.query.element;
  Results results;
  results.output = result_of("output", element, with_last(shape, extent_of(inputs.value, 0)));
  if (!arguments.weights.empty())
    results.weights = result_of("weights", element, with_last(shape, extent_of(inputs.key, 1)));
  if (!shape.empty()) shape.pop_back();
  if (!arguments.lse.empty()) results.lse = result_of("lse", Element::f32, shape);
  return results;
}

Call call_of(const Inputs& inputs, const Results& results, const Options& options) {
  Call call;
  call.query = tensor_of(inputs.query);
  call.key = tensor_of(inputs.key);
  call.value = tensor_of(inputs.value);
  call.outputs.output = tensor_of(results.output);
  if (results.lse) call.outputs.lse = tensor_of(*results.lse);
  if (results.weights) call.outputs.weights = tensor_of(*results.weights);
  call.options = options;
  if (inputs.mask) call.options.mask = tensor_of(*inputs.mask);
  if (inputs.bias) call.options.bias = tensor_of(*inputs.bias);
  if (inputs.key_lengths) call.options.key_lengths = *inputs.key_lengths;
  return call;
}

void expect_ok(const Status& status) {
  if (status.code == Status::Code::out_of_memory) fail(describe(status));
  if (!status.ok()) refuse(describe(status));
}

// Returns the microseconds it took. Where a person watches, long work goes piece by piece.
double attend_timed(const Call& call) {
  expect_ok(check(call));
  constexpr double least_operations = 4e9;  // a twentieth of a second, on one fast core
  const std::vector<Call> pieces =
      is_progress_seen() ? pieces_of(call, least_operations) : std::vector<Call>{call};
  Progress progress("attend");
  const auto start = std::chrono::steady_clock::now();
  expect_ok(attend(pieces, [&](double part) {
    if (pieces.size() > 1) progress.advance(part);
  }));
  const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - start;
  return time.count();
}

// Where the results go.
std::vector<Argument> targets_of(const AttendArguments& arguments) {
  std::vector<Argument> targets{{"output", arguments.output}};
  if (!arguments.lse.empty()) targets.push_back({"lse", arguments.lse});
  if (!arguments.weights.empty()) targets.push_back({"weights", arguments.weights});
  return targets;
}

// numpy has no bf16: in .npy and .npz it becomes f32.
void widen_for(const Argument& target, Array& array, Notes& notes) {
  if (array.element != Element::bf16) return;
  if (parse_tensor_name(target.text).format == Format::safetensors) return;
  array = bf16_to_f32(array);
  notes.push_back(target.argument + ": bf16 written as f32, exactly");
}

}  // namespace

ExitCode run_attend(const AttendArguments& arguments) {
  const std::vector<Argument> targets = targets_of(arguments);
  check_targets(targets, inputs_of(arguments));
  Notes notes;
  const Inputs inputs = read_inputs(arguments, notes);
  Results results = results_for(inputs, arguments);
  const double microseconds = attend_timed(call_of(inputs, results, arguments.options));
  std::vector<Target> written;
  for (const Argument& target : targets) {
    Array& array = target.argument == "output" ? results.output
                   : target.argument == "lse"  ? *results.lse
                                               : *results.weights;
    widen_for(target, array, notes);
    written.push_back({target, &array});
  }
  write_arrays(written);
  for (const std::string& note : notes) std::fprintf(stderr, "scaledot: note: %s\n", note.c_str());
  report({arguments, inputs, results, notes, microseconds});
  return ExitCode::ok;
}

}  // namespace scaledot::cli
