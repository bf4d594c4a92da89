#include "tensor_file.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "failure.hpp"
#include "file_place.hpp"
#include "input_file.hpp"
#include "named_array.hpp"
#include "npy.hpp"
#include "npz.hpp"
#include "pending_file.hpp"
#include "safetensors.hpp"
#include "utf8.hpp"

namespace scaledot::cli {

namespace {

struct Ending {
  std::string_view text;
  Format format;
};
constexpr std::array endings{Ending{".npz", Format::npz},
                             Ending{".safetensors", Format::safetensors},
                             Ending{".npy", Format::npy}};

std::string in_small_letters(std::string text) {
  for (char& letter : text)
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  return text;
}

// A place for a tensor: a file, and the name there.
using Place = std::pair<FilePlace, std::string>;

Place place_to_write(const Argument& argument) {
  const TensorName name = parse_tensor_name(argument.text);
  if (name.format == Format::npy) return {file_place(name.path), ""};
  return {file_place(name.path), name.name.empty() ? argument.argument : name.name};
}

void check_target(const TensorName& name) {
  if (!is_utf8(name.name)) refuse("has a name that is not UTF-8");
  if (name.format == Format::npz) check_npz_name(name.name);
  check_writable(name.path);
}

// Lets a failure go on, with what it is about before its message.
[[noreturn]] void rethrow(Failure& failure, const Argument& about) {
  failure.message = about.argument + ": " + in_quotes(about.text) + " " + failure.message;
  throw std::move(failure);
}

// The name of the tensor to read from a file of several.
std::string chosen(const std::vector<std::string>& names, const std::string& wanted) {
  if (std::find(names.begin(), names.end(), wanted) != names.end()) return wanted;
  if (names.size() == 1) return names.front();
  if (names.empty()) refuse("holds no tensor");
  std::string message = "holds " + std::to_string(names.size()) + " tensors, none named " +
                        in_quotes(wanted) + "; name one after a colon";
  constexpr std::size_t most = 5;
  for (std::size_t i = 0; i < std::min(names.size(), most); ++i)
    message += (i == 0 ? ": " : ", ") + in_quotes(names[i]);
  refuse(message + (names.size() > most ? ", ..." : ""));
}

// The name of the tensor that an argument means in a file of several.
std::string name_to_read(const TensorName& from, const std::string& argument) {
  if (!from.name.empty()) return from.name;
  const InputFile file(from.path);
  return chosen(from.format == Format::npz ? npz_names(file) : safetensors_names(file), argument);
}

Place place_to_read(const Argument& argument) {
  const TensorName from = parse_tensor_name(argument.text);
  if (from.format == Format::npy) return {file_place(from.path), ""};
  return {file_place(from.path), name_to_read(from, argument.argument)};
}

// What is to be written into one file.
struct Group {
  Argument first;
  TensorName name;
  std::vector<NamedArray> arrays;
};

// The file as it is now, if it holds tensors that are to be kept.
std::unique_ptr<InputFile> old_file(const TensorName& name) {
  std::error_code error;
  const auto size = std::filesystem::file_size(name.path, error);
  if (name.format == Format::npy || error || size == 0) return nullptr;
  return std::make_unique<InputFile>(name.path);
}

PendingFile pending(const Group& group) {
  const std::unique_ptr<InputFile> old = old_file(group.name);
  PendingFile file(group.name.path);
  if (group.name.format == Format::npy)
    write_npy(file, *group.arrays.front().array);
  else if (group.name.format == Format::npz)
    write_npz(file.temporary_path(), old.get(), group.arrays);
  else
    write_safetensors(file, old.get(), group.arrays);
  file.finish();
  return file;
}

}  // namespace

TensorName parse_tensor_name(const std::string& text) {
  const std::string small = in_small_letters(text);
  std::optional<TensorName> named;
  std::size_t first = std::string::npos;
  for (const Ending& ending : endings) {
    const std::size_t at = small.find(std::string(ending.text) + ":");
    if (at >= first || at == std::string::npos) continue;
    first = at;
    const std::size_t end = at + ending.text.size();
    named = {text.substr(0, end), ending.format, text.substr(end + 1)};
  }
  if (!named)
    for (const Ending& ending : endings)
      if (small.ends_with(ending.text)) named = {text, ending.format, ""};
  if (!named) refuse("is not named .npy, .npz or .safetensors");
  const bool has_colon = named->path.size() < text.size();
  if (has_colon && named->format == Format::npy)
    refuse("names a tensor in a .npy file, which holds one without a name");
  // numpy calls the entry x.npy of an archive x.
  if (named->format == Format::npz && named->name.ends_with(".npy"))
    named->name.resize(named->name.size() - 4);
  if (has_colon && named->name.empty()) refuse("has no name after the colon");
  if (named->name == "__metadata__") refuse("has the name that .safetensors keeps for itself");
  return *named;
}

Array read_array(const Argument& from) try {
  const TensorName name = parse_tensor_name(from.text);
  if (name.format == Format::npy) return read_npy(InputFile(name.path));
  const std::string wanted = name_to_read(name, from.argument);
  const InputFile file(name.path);
  return name.format == Format::npz ? read_npz(file, wanted) : read_safetensors(file, wanted);
} catch (const std::bad_alloc&) {
  fail("out of memory: " + from.argument + " in " + in_quotes(from.text));
} catch (Failure& failure) {
  rethrow(failure, from);
}

void check_targets(const std::vector<Argument>& targets, const std::vector<Argument>& inputs) {
  std::map<Place, std::string> taken;
  for (const Argument& input : inputs) try {
      taken.emplace(place_to_read(input), input.argument);
    } catch (Failure& failure) {
      rethrow(failure, input);
    }
  for (const Argument& target : targets) try {
      const auto [at, is_free] = taken.emplace(place_to_write(target), target.argument);
      if (!is_free) refuse("is where " + at->second + " lies");
      check_target(parse_tensor_name(target.text));
    } catch (Failure& failure) {
      rethrow(failure, target);
    }
}

void write_arrays(const std::vector<Target>& targets) {
  std::map<FilePlace, Group> groups;
  for (const auto& [argument, array] : targets) {
    const auto [file, name] = place_to_write(argument);
    const auto [group, is_new] =
        groups.try_emplace(file, Group{argument, parse_tensor_name(argument.text), {}});
    group->second.arrays.push_back({name, array});
  }
  std::vector<PendingFile> files;
  for (const auto& [place, group] : groups) try {
      files.push_back(pending(group));
    } catch (Failure& failure) {
      rethrow(failure, group.first);
    }
  auto file = files.begin();
  for (const auto& [place, group] : groups) try {
      (file++)->commit();
    } catch (Failure& failure) {
      rethrow(failure, group.first);
    }
}

}  // namespace scaledot::cli
