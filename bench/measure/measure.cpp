#include "measure/measure.hpp"

#include <new>

#include "measure/ceiling.hpp"
#include "measure/check.hpp"

namespace scaledot::measure {

namespace {

// The first contestant whose result is wrong, as a sentence; empty if all are right.
std::string fault_of(Tensors& tensors, const std::vector<Contestant>& contestants) {
  for (const Contestant& contestant : contestants) {
    tensors.spoil_output();
    contestant.call();
    if (!(error(tensors, contestant.part) <= 1))
      return contestant.name + ": the output is wrong, so it is not timed";
  }
  return "";
}

}  // namespace

Measured measure(Tensors& tensors, const std::vector<Contestant>& rivals, const Effort& effort,
                 const Progress& progress) {
  std::vector<Contestant> contestants{{"scaledot", [&tensors] {
                                         // Once the arguments have been accepted, only memory can
                                         // be missing.
                                         if (!tensors.attend().ok()) throw std::bad_alloc();
                                       }}};
  contestants.insert(contestants.end(), rivals.begin(), rivals.end());

  Measured measured;
  measured.status = tensors.attend();
  if (!measured.status.ok()) return measured;
  measured.fault = fault_of(tensors, contestants);
  const Loops* loops = loops_in_use();
  if (loops == nullptr) measured.fault = "there is no calibration for the instruction set in use";
  if (!measured.fault.empty()) return measured;

  const Shape& shape = tensors.shape();
  Team team(shape.threads);
  const auto pieces = tensors.seen_keys_and_values();
  const auto ceiling = [&] {
    settle();
    Ceiling now;
    now.flops = peak_flops(team, *loops);
    if (shape.queries == 1) now.bytes = read_bytes(team, *loops, pieces);
    return now;
  };
  const auto samples = interleave(contestants, ceiling, effort, progress);
  for (std::size_t c = 0; c < contestants.size(); ++c) {
    const double part = contestants[c].part;
    measured.results.push_back(result_of(samples[c], flops(shape) * part, bytes(shape) * part));
  }
  return measured;
}

}  // namespace scaledot::measure
