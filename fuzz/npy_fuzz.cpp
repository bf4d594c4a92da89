// Any bytes as a .npy file: they are refused clearly, or the array is whole and survives being
// written and read again.
#include "npy.hpp"

#include "file_fuzz.hpp"

namespace {

using namespace scaledot;

void check_written(const cli::Array& array) {
  constexpr std::size_t most_axes = 4;  // of what the program writes
  if (array.order != cli::Order::c || array.extents.size() > most_axes) return;
  cli::PendingFile file = fuzz::scratch_file();
  cli::write_npy(file, array);
  fuzz::expect_same(cli::read_npy(cli::InputFile(file.temporary_path())), array);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  cli::Array array;
  try {
    array = cli::read_npy(fuzz::file_of(data, size));
  } catch (const cli::Failure& failure) {
    fuzz::expect_clear(failure);
    return 0;
  }
  fuzz::expect_whole(array);
  fuzz::expect(array.data.size() < size, "no more elements than the file holds");
  check_written(array);
  return 0;
}
