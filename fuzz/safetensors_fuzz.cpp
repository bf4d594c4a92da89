// Any bytes as a .safetensors file: they are refused clearly, or every tensor is whole and all of
// them survive being written and read again.
#include "safetensors.hpp"

#include "file_fuzz.hpp"

namespace {

using namespace scaledot;

// False if the tensor is of a type that is not read.
bool read_if_known(const cli::InputFile& file, const std::string& name, cli::Array& array) {
  try {
    array = cli::read_safetensors(file, name);
  } catch (const cli::Failure& failure) {
    fuzz::expect_clear(failure);
    return false;
  }
  fuzz::expect_whole(array);
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const cli::InputFile file = fuzz::file_of(data, size);
  std::vector<std::string> names;
  try {
    names = cli::safetensors_names(file);
  } catch (const cli::Failure& failure) {
    fuzz::expect_clear(failure);
    return 0;
  }
  cli::PendingFile copy = fuzz::scratch_file();
  cli::write_safetensors(copy, &file, {});
  const cli::InputFile again(copy.temporary_path());
  fuzz::expect(cli::safetensors_names(again).size() == names.size(), "as many tensors");
  std::size_t bytes = 0;
  for (const std::string& name : names) {
    cli::Array array, copied;
    const bool is_known = read_if_known(file, name, array);
    fuzz::expect(read_if_known(again, name, copied) == is_known, "the same type");
    if (is_known) fuzz::expect_same(copied, array);
    bytes += array.data.size();
  }
  fuzz::expect(bytes < size, "no more elements than the file holds");
  return 0;
}
