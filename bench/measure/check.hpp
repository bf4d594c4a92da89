// No time is worth anything if the result is wrong: a look at some rows before anything is timed.
#pragma once

#include "measure/tensors.hpp"

namespace scaledot::measure {

// The distance of the output from the definition, computed in double line by line, at a few rows
// from the first to the last of the leading `part` of all rows. In units of what rounding explains:
// above 1 (or NaN) it is wrong.
double error(const Tensors& tensors, double part = 1);

}  // namespace scaledot::measure
