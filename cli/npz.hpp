// The .npz format: a zip archive of .npy arrays, stored or deflated.
#pragma once

#include <string>
#include <vector>

#include "array.hpp"
#include "input_file.hpp"
#include "named_array.hpp"

namespace scaledot::cli {

// The names of the arrays, without ".npy". Refuses two of one name.
std::vector<std::string> npz_names(const InputFile& file);

Array read_npz(const InputFile& file, const std::string& name);

// Refuses a name in UTF-8 that an archive cannot hold, or that is unpacked elsewhere.
void check_npz_name(const std::string& name);

// Writes an archive to `path`: the entries of `old`, if there is one, but those named in `arrays`,
// then `arrays`, stored.
void write_npz(const std::string& path, const InputFile* old,
               const std::vector<NamedArray>& arrays);

}  // namespace scaledot::cli
