// What the fuzz targets of the file formats share.
#pragma once

#include <cstddef>
#include <cstdint>

#include "array.hpp"
#include "failure.hpp"
#include "input_file.hpp"
#include "pending_file.hpp"

namespace scaledot::fuzz {

// The bytes as a file that lies in memory.
cli::InputFile file_of(const std::uint8_t* data, std::size_t size);

// A file beside no other that goes when this one does.
cli::PendingFile scratch_file();

// Ends the program, for libFuzzer to report, if what is said is not so.
void expect(bool is_so, const char* what);

// A refusal is the user's mistake, in one line that can be printed.
void expect_clear(const cli::Failure& failure);

// The elements have as many bytes as the shape says.
void expect_whole(const cli::Array& array);

void expect_same(const cli::Array& got, const cli::Array& expected);

}  // namespace scaledot::fuzz
