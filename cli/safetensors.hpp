// The .safetensors format: named tensors behind one header in JSON.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "array.hpp"
#include "input_file.hpp"
#include "named_array.hpp"
#include "pending_file.hpp"

namespace scaledot::cli {

std::vector<std::string> safetensors_names(const InputFile& file);

Array read_safetensors(const InputFile& file, const std::string& name);

// Writes the tensors and the metadata of `old`, if there is one, but those named in `arrays`, and
// `arrays`.
void write_safetensors(PendingFile& file, const InputFile* old,
                       const std::vector<NamedArray>& arrays);

}  // namespace scaledot::cli
