// Any bytes as a .npz file: they are refused clearly, or every array is whole; and where a new
// array can be written beside them, they are there afterwards.
#include "npz.hpp"

#include <optional>

#include "file_fuzz.hpp"

namespace {

using namespace scaledot;

std::optional<cli::Array> read_if_sound(const cli::InputFile& file, const std::string& name) {
  try {
    return cli::read_npz(file, name);
  } catch (const cli::Failure& failure) {
    fuzz::expect_clear(failure);
    return std::nullopt;
  }
}

// Whether the archive could be written again with one more array.
bool write_with(const std::string& path, const cli::InputFile& old, const cli::NamedArray& array) {
  try {
    cli::write_npz(path, &old, {array});
    return true;
  } catch (const cli::Failure&) {
    return false;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const cli::InputFile file = fuzz::file_of(data, size);
  std::vector<std::string> names;
  try {
    names = cli::npz_names(file);
  } catch (const cli::Failure& failure) {
    fuzz::expect_clear(failure);
    return 0;
  }
  std::vector<std::optional<cli::Array>> arrays;
  for (const std::string& name : names) {
    arrays.push_back(read_if_sound(file, name));
    if (!arrays.back()) continue;
    fuzz::expect_whole(*arrays.back());
    fuzz::expect(arrays.back()->data.size() / 1032 <= size, "no more than deflate can hold");
  }

  const cli::Array added = cli::zeros(cli::Element::f32, {2, 3});
  const std::string name = "output";
  const cli::PendingFile copy = fuzz::scratch_file();
  if (!write_with(copy.temporary_path(), file, {name, &added})) return 0;
  const cli::InputFile again(copy.temporary_path());
  fuzz::expect_same(cli::read_npz(again, name), added);
  for (std::size_t i = 0; i < names.size(); ++i)
    if (arrays[i] && names[i] != name)
      fuzz::expect_same(cli::read_npz(again, names[i]), *arrays[i]);
  return 0;
}
