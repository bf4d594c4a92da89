// Changes of type between a file and the library. Each that loses something, or that a reader of
// the result would wonder about, gives a note for stderr.
#pragma once

#include <string>
#include <vector>

#include "array.hpp"

namespace scaledot::cli {

using Notes = std::vector<std::string>;

// What a finite f64 beyond the range of f32 becomes. A bias that is finite must stay so, since an
// infinite one hides its key.
enum class Beyond { infinity, largest };

void f64_to_f32(Array& array, const std::string& argument, Beyond beyond, Notes& notes);

// Exactly.
Array bf16_to_f32(const Array& array);

// i32 or i64 elements, one after the other in memory.
std::vector<Index> integers_of(const Array& array);

}  // namespace scaledot::cli
