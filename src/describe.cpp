// A Status in one sentence, for a person.
#include <cmath>
#include <cstdio>

#include "scaledot/attention.hpp"

namespace scaledot {

using Code = Status::Code;

namespace {

std::string text(Index number) { return std::to_string(number); }

std::string text(double number) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.9g", number);
  return buffer;
}

std::string type_name(Index number) {
  constexpr const char* names[] = {"f32", "f16", "bf16", "boolean"};
  return number >= 0 && number < 4 ? names[number] : "of unknown type " + text(number);
}

// The types that a tensor may have; status.expected is but the nearest.
std::string expected_types(const Status& status) {
  const std::string name = status.argument;
  if (*status.other != '\0') return type_name(status.expected) + " for bf16 arithmetic";
  return name == "mask" ? "boolean" : name == "lse" ? "f32" : "f32, f16 or bf16";
}

std::string of_softcap(double value) {
  const std::string found = "softcap is " + text(value);
  if (!std::isfinite(value) || value < 0)
    return found + ", expected a finite number: 0, which is off, or a positive one";
  return found +
         ", expected one for which softcap * log2(e) and scale / softcap are in f32's range";
}

std::string of_option(const Status& status) {
  const std::string name = status.argument;
  if (name == "scale")
    return name + " is " + text(status.value) +
           ", expected a finite number whose product with log2(e) is finite";
  if (name == "softcap") return of_softcap(status.value);
  if (name == "SCALEDOT_ISA")
    return name + " names no instruction set that this machine and build can run";
  if (name == "SCALEDOT_THREADS")
    return name + " is not a number from 1 to " + text(Index{most_threads});
  if (name == "key_lengths")
    return name + ": entry " + text(status.axis) + " is " + text(status.got) +
           (status.got < 0 ? ", expected 0 or more"
                           : ", expected at most the " + text(status.expected) + " keys");
  if (name == "window.left" || name == "window.right")
    return name + " is " + text(status.got) + ", expected 0 or more, or -1 for unlimited";
  if (name == "threads")
    return name + " is " + text(status.got) +
           (status.got < 0 ? ", expected 0 or more"
                           : ", expected at most " + text(Index{most_threads}));
  if (name == "reserved") return name + " is " + text(status.got) + ", expected 0";
  return name + " is " + text(status.got) + ", expected 0, 1 or 2";
}

}  // namespace

std::string describe(const Status& status) {
  const std::string name = status.argument, other = status.other;
  const std::string axis = status.axis < 0 ? "" : ": axis " + text(status.axis);
  const std::string as_in = other.empty() ? "" : " as in " + other;
  switch (status.code) {
    case Code::ok:
      return "ok";
    case Code::null_data:
      return name + " has elements but no data (a null pointer)";
    case Code::alignment:
      return name + ": data is " + text(status.got) +
             " bytes off a multiple of its element's size, expected 0";
    case Code::rank:
      return name + " has rank " + text(status.got) + ", expected " + text(status.expected) +
             (other.empty() ? "" : " to go with " + other);
    case Code::extent:
      if (name == "workspace")
        return name + " has " + text(status.got) + " bytes, expected " + text(status.expected);
      if (name == "key_lengths")
        return name + " has " + text(status.got) + " entries, expected " + text(status.expected) +
               ", one a batch entry";
      if (name == "query" && other == "key")
        return name + axis + " is " + text(status.got) +
               " heads, expected a multiple of key's heads such as " + text(status.expected);
      return name + axis + " is " + text(status.got) + ", expected " +
             (status.got < 0 ? "0 or more" : text(status.expected)) + as_in;
    case Code::stride:
      return name + axis + " has stride " + text(status.got) + ", which makes " +
             (status.got == 0 ? "elements share a place" : "axes interleave") + "; expected at " +
             (status.got < 0 ? "most " + text(-status.expected) : "least " + text(status.expected));
    case Code::overflow:
      return name + axis + " reaches beyond 64-bit addresses (" + text(status.got) + ")";
    case Code::overlap:
      return name + " lies in the same memory as " + other;
    case Code::dtype:
      return name + " is " + type_name(status.got) + ", expected " + expected_types(status);
    case Code::option:
      return of_option(status);
    case Code::out_of_memory:
      return "out of memory: " + name +
             (status.expected > 0 ? " needs " + text(status.expected) + " bytes"
                                  : " would be larger than the address space");
  }
  return "status " + text(static_cast<Index>(status.code)) + " is unknown";
}

}  // namespace scaledot
