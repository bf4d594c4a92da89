#include "npz.hpp"

#include <unistd.h>
#include <zip.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <new>
#include <set>
#include <string_view>
#include <utility>

#include "failure.hpp"
#include "npy.hpp"

namespace scaledot::cli {

namespace {

constexpr std::string_view suffix = ".npy";

struct DiscardArchive {
  void operator()(zip_t* archive) const { zip_discard(archive); }
};
using Archive = std::unique_ptr<zip_t, DiscardArchive>;

struct CloseEntry {
  void operator()(zip_file_t* entry) const { zip_fclose(entry); }
};
using Entry = std::unique_ptr<zip_file_t, CloseEntry>;

std::string message_of(int zip_error) {
  zip_error_t error;
  zip_error_init_with_code(&error, zip_error);
  std::string message = zip_error_strerror(&error);
  zip_error_fini(&error);
  return message;
}

Archive open_archive(const InputFile& file) {
  const int descriptor = ::dup(file.descriptor());  // zip_fdopen takes it, unless it fails
  if (descriptor < 0) fail_with_errno("cannot be read", errno);
  int error = 0;
  Archive archive(zip_fdopen(descriptor, 0, &error));
  if (archive) return archive;
  ::close(descriptor);
  if (error == ZIP_ER_MEMORY) throw std::bad_alloc();
  refuse("is not a whole .npz archive: " + message_of(error));
}

struct Listed {
  std::string name;  // the whole one
  zip_uint64_t index;
};

// The entries of an archive; two of one name are refused, since readers differ in which they take.
std::vector<Listed> entries_of(zip_t* archive) {
  const zip_int64_t count = zip_get_num_entries(archive, 0);
  std::vector<Listed> entries;
  std::set<std::string> names;
  for (zip_int64_t i = 0; i < count; ++i) {
    const auto index = static_cast<zip_uint64_t>(i);
    const char* name = zip_get_name(archive, index, 0);
    if (name == nullptr) refuse("has an entry without a name");
    if (!names.insert(name).second) refuse("has two entries named " + in_quotes(name));
    entries.push_back({name, index});
  }
  return entries;
}

zip_stat_t facts_of(zip_t* archive, zip_uint64_t index) {
  constexpr zip_uint64_t needed =
      ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD | ZIP_STAT_ENCRYPTION_METHOD;
  zip_stat_t facts;
  if (zip_stat_index(archive, index, 0, &facts) != 0 || (facts.valid & needed) != needed)
    refuse("has an entry without a size");
  if (facts.encryption_method != ZIP_EM_NONE) refuse("is encrypted");
  if (facts.comp_method != ZIP_CM_STORE && facts.comp_method != ZIP_CM_DEFLATE)
    refuse("has compression method " + std::to_string(facts.comp_method) +
           ", expected stored or deflated");
  // Deflate cannot shrink by more than 1032.
  const bool is_possible = facts.comp_method == ZIP_CM_STORE ? facts.size == facts.comp_size
                                                             : facts.size / 1032 <= facts.comp_size;
  if (!is_possible)
    refuse("claims to hold " + std::to_string(facts.size) + " bytes in " +
           std::to_string(facts.comp_size));
  return facts;
}

// Reads `bytes` in full.
void read_entry(zip_file_t* entry, std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    const zip_int64_t count = zip_fread(entry, bytes.data(), bytes.size());
    if (count < 0) refuse(std::string("cannot be unpacked: ") + zip_file_strerror(entry));
    if (count == 0) refuse("is cut short");
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
}

// Takes memory as the bytes arrive: what an entry claims to hold need not be there.
Buffer read_elements(zip_file_t* entry, std::size_t size) {
  constexpr std::size_t least = std::size_t{1} << 20;
  Buffer data;
  while (data.size() < size) {
    const std::size_t start = data.size();
    data.resize(std::min(size, std::max(least, 2 * start)));
    read_entry(entry, data.bytes().subspan(start));
  }
  // The archive's checksum is looked at when the end is reached.
  char beyond;
  const zip_int64_t count = zip_fread(entry, &beyond, 1);
  if (count < 0) refuse(std::string("cannot be unpacked: ") + zip_file_strerror(entry));
  if (count > 0) refuse("holds more than it claims");
  return data;
}

std::string full_name(const std::string& name) { return name + std::string(suffix); }

// Whether unpacking an archive with such an entry writes outside the folder it is unpacked in.
bool leaves_folder(const std::string& name) {
  const std::string path = '/' + name + '/';
  return name.starts_with('/') || path.find("/../") != std::string::npos;
}

bool is_control(char character) {
  const auto byte = static_cast<unsigned char>(character);
  return byte < ' ' || byte == 127;
}

[[noreturn]] void cannot_write(zip_t* archive) {
  fail(std::string("cannot be written: ") + zip_strerror(archive));
}

// Adds an entry that `source` gives; takes the source over.
zip_uint64_t add_entry(zip_t* archive, const std::string& name, zip_flags_t encoding,
                       zip_source_t* source) {
  if (source == nullptr) cannot_write(archive);
  const zip_int64_t index = zip_file_add(archive, name.c_str(), source, encoding);
  if (index >= 0) return static_cast<zip_uint64_t>(index);
  zip_source_free(source);
  cannot_write(archive);
}

}  // namespace

std::vector<std::string> npz_names(const InputFile& file) {
  const Archive archive = open_archive(file);
  std::vector<std::string> names;
  for (const Listed& entry : entries_of(archive.get()))
    if (entry.name.ends_with(suffix))
      names.push_back(entry.name.substr(0, entry.name.size() - suffix.size()));
  return names;
}

Array read_npz(const InputFile& file, const std::string& name) {
  const Archive archive = open_archive(file);
  const std::vector<Listed> entries = entries_of(archive.get());
  const auto found = std::find_if(entries.begin(), entries.end(), [&](const Listed& entry) {
    return entry.name == full_name(name);
  });
  if (found == entries.end()) refuse("has no array " + in_quotes(name));
  const zip_stat_t facts = facts_of(archive.get(), found->index);
  const Entry entry(zip_fopen_index(archive.get(), found->index, 0));
  if (!entry) refuse(std::string("cannot be unpacked: ") + zip_strerror(archive.get()));
  const NextBytes next = [&](std::span<std::byte> bytes) { read_entry(entry.get(), bytes); };
  NpyStart start = read_npy_start(next, facts.size);
  Buffer data = read_elements(entry.get(), start.data_bytes);
  return npy_array(std::move(start), std::move(data));
}

void check_npz_name(const std::string& name) {
  if (leaves_folder(name))
    refuse("has a name that begins with / or has .. in it, which unpacking would write elsewhere");
  if (std::any_of(name.begin(), name.end(), is_control))
    refuse("has a name with control characters, which archives lose");
  constexpr std::size_t most = 65535;  // a name's length has two bytes in an archive
  const std::size_t bytes = full_name(name).size();
  if (bytes > most)
    refuse("has a name of " + std::to_string(bytes) + " bytes with .npy, expected at most " +
           std::to_string(most));
}

void write_npz(const std::string& path, const InputFile* old,
               const std::vector<NamedArray>& arrays) {
  Archive kept;  // is read when the new archive is closed, and so must live longer
  int error = 0;
  Archive archive(zip_open(path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, &error));
  if (!archive) fail("cannot be written: " + message_of(error));
  std::set<std::string> names;
  for (const NamedArray& each : arrays) names.insert(full_name(each.name));

  if (old != nullptr) {
    kept = open_archive(*old);
    for (const Listed& entry : entries_of(kept.get())) {
      if (names.contains(entry.name)) continue;
      // What is no UTF-8 libzip shows as code page 437, a control character as a picture.
      const std::string stored = zip_get_name(kept.get(), entry.index, ZIP_FL_ENC_RAW);
      add_entry(archive.get(), stored, stored == entry.name ? ZIP_FL_ENC_UTF_8 : ZIP_FL_ENC_CP437,
                zip_source_zip(archive.get(), kept.get(), entry.index, 0, 0, -1));
    }
  }

  std::vector<std::string> headers;
  headers.reserve(arrays.size());
  for (const NamedArray& each : arrays) {
    std::string& header =
        headers.emplace_back(npy_header_of(each.array->element, each.array->extents));
    auto* elements =
        reinterpret_cast<zip_uint8_t*>(const_cast<std::byte*>(each.array->data.data()));
    zip_buffer_fragment_t parts[] = {{reinterpret_cast<zip_uint8_t*>(header.data()), header.size()},
                                     {elements, each.array->data.size()}};
    const zip_uint64_t index =
        add_entry(archive.get(), full_name(each.name), ZIP_FL_ENC_UTF_8,
                  zip_source_buffer_fragment(archive.get(), parts, elements == nullptr ? 1 : 2, 0));
    // Equal arrays make equal files: no clock, and the first day that zip knows, as numpy has it.
    constexpr zip_uint16_t first_day = 1 << 5 | 1;
    if (zip_set_file_compression(archive.get(), index, ZIP_CM_STORE, 0) != 0 ||
        zip_file_set_dostime(archive.get(), index, 0, first_day, 0) != 0)
      cannot_write(archive.get());
  }
  if (zip_close(archive.get()) != 0) cannot_write(archive.get());
  static_cast<void>(archive.release());
}

}  // namespace scaledot::cli
