#include "inputs.hpp"

namespace scaledot::cli {

namespace {

// A tensor of numbers, f64 rounded.
Array read_numbers(const Argument& from, Beyond beyond, Inputs& inputs, Notes& notes) {
  Array array = read_array(from);
  inputs.in_file[from.argument] = array.element;
  if (array.element == Element::f64) f64_to_f32(array, from.argument, beyond, notes);
  if (!dtype_of(array.element))
    refuse(from.argument + " is " + name_of(array.element) + ", expected f32, f16, bf16 or f64");
  return array;
}

Array read_mask(const Argument& from) {
  Array array = read_array(from);
  if (!dtype_of(array.element))
    refuse(from.argument + " is " + name_of(array.element) + ", expected boolean");
  return array;
}

std::vector<Index> read_lengths(const Argument& from) {
  const Array array = read_array(from);
  if (array.element != Element::i64 && array.element != Element::i32)
    refuse(from.argument + " is " + name_of(array.element) + ", expected i64 or i32");
  if (array.extents.size() > 1)
    refuse(from.argument + " has rank " + std::to_string(array.extents.size()) + ", expected 1");
  return integers_of(array);
}

}  // namespace

std::vector<Argument> inputs_of(const AttendArguments& arguments) {
  std::vector<Argument> inputs;
  for (const Argument& input :
       {Argument{"query", arguments.query}, Argument{"key", arguments.key},
        Argument{"value", arguments.value}, Argument{"mask", arguments.mask},
        Argument{"bias", arguments.bias}, Argument{"key_lengths", arguments.key_lengths}})
    if (!input.text.empty()) inputs.push_back(input);
  return inputs;
}

Inputs read_inputs(const AttendArguments& arguments, Notes& notes) {
  Inputs inputs;
  inputs.query = read_numbers({"query", arguments.query}, Beyond::infinity, inputs, notes);
  inputs.key = read_numbers({"key", arguments.key}, Beyond::infinity, inputs, notes);
  inputs.value = read_numbers({"value", arguments.value}, Beyond::infinity, inputs, notes);
  if (!arguments.mask.empty()) inputs.mask = read_mask({"mask", arguments.mask});
  if (!arguments.bias.empty())
    inputs.bias = read_numbers({"bias", arguments.bias}, Beyond::largest, inputs, notes);
  if (!arguments.key_lengths.empty())
    inputs.key_lengths = read_lengths({"key_lengths", arguments.key_lengths});
  return inputs;
}

}  // namespace scaledot::cli
