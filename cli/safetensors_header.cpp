#include "safetensors_header.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "failure.hpp"

namespace scaledot::cli {

namespace {

using Json = nlohmann::json;

struct Type {
  std::string_view name;
  int bits;
  std::optional<Element> element;
};

constexpr std::array types{Type{"F32", 32, Element::f32},
                           Type{"F16", 16, Element::f16},
                           Type{"BF16", 16, Element::bf16},
                           Type{"BOOL", 8, Element::boolean},
                           Type{"F64", 64, Element::f64},
                           Type{"I32", 32, Element::i32},
                           Type{"I64", 64, Element::i64},
                           Type{"U8", 8, {}},
                           Type{"I8", 8, {}},
                           Type{"U16", 16, {}},
                           Type{"I16", 16, {}},
                           Type{"U32", 32, {}},
                           Type{"U64", 64, {}},
                           Type{"C64", 64, {}},
                           Type{"F8_E4M3", 8, {}},
                           Type{"F8_E5M2", 8, {}},
                           Type{"F8_E8M0", 8, {}}};

const Type* type_named(std::string_view name) {
  const auto found =
      std::find_if(types.begin(), types.end(), [&](const Type& type) { return type.name == name; });
  return found == types.end() ? nullptr : found;
}

// Follows the JSON event by event and knows at each where it is, so that nothing is stored that a
// header may not hold, however deep or long the text is. Each event returns whether to go on.
class HeaderReader {
 public:
  SafetensorsHeader header;
  std::string fault;  // why it stopped

  bool start_object(std::size_t) {
    switch (place_) {
      case Place::start:
        return go(Place::tensors);
      case Place::tensor_value:
        return go(Place::tensor);
      case Place::metadata_value:
        return go(Place::metadata);
      default:
        return stop("an object where none belongs");
    }
  }

  bool key(std::string& name) {
    if (place_ == Place::tensors && name == "__metadata__") {
      if (std::exchange(has_metadata_, true)) return stop("__metadata__ twice");
      return go(Place::metadata_value);
    }
    if (place_ == Place::tensors) {
      if (!names_.insert(name).second) return stop("two tensors named " + in_quotes(name));
      header.tensors.push_back({name, "", {}, 0, 0});
      has_dtype_ = has_shape_ = has_offsets_ = false;
      return go(Place::tensor_value);
    }
    if (place_ == Place::metadata) {
      const auto [member, is_new] = header.metadata.emplace(name, "");
      if (!is_new) return stop("two members of __metadata__ named " + in_quotes(name));
      metadata_ = &member->second;
      return go(Place::metadata_text);
    }
    if (name == "dtype" && !std::exchange(has_dtype_, true)) return go(Place::dtype);
    if (name == "shape" && !std::exchange(has_shape_, true)) return go(Place::shape_value);
    if (name == "data_offsets" && !std::exchange(has_offsets_, true))
      return go(Place::offsets_value);
    return stop("a tensor's member " + in_quotes(name) + " that does not belong there");
  }

  bool string(std::string& text) {
    if (place_ == Place::dtype) {
      header.tensors.back().dtype = text;
      return go(Place::tensor);
    }
    if (place_ == Place::metadata_text) {
      *metadata_ = text;
      return go(Place::metadata);
    }
    return stop("a string where none belongs");
  }

  bool start_array(std::size_t) {
    offsets_ = 0;
    if (place_ == Place::shape_value) return go(Place::shape);
    if (place_ == Place::offsets_value) return go(Place::offsets);
    return stop("an array where none belongs");
  }

  bool number_unsigned(std::uint64_t number) {
    Stored* tensor = header.tensors.empty() ? nullptr : &header.tensors.back();
    if (place_ == Place::shape) {
      if (number > static_cast<std::uint64_t>(std::numeric_limits<Index>::max()))
        return stop("an extent of " + std::to_string(number));
      tensor->extents.push_back(static_cast<Index>(number));
      return true;
    }
    if (place_ == Place::offsets && offsets_ < 2) {
      (offsets_++ == 0 ? tensor->begin : tensor->end) = number;
      return true;
    }
    return stop("a number where none belongs");
  }

  bool end_array() {
    if (place_ == Place::offsets && offsets_ != 2) return stop("data_offsets that are not two");
    return go(Place::tensor);
  }

  bool end_object() {
    switch (place_) {
      case Place::tensor:
        if (!has_dtype_ || !has_shape_ || !has_offsets_)
          return stop("a tensor without dtype, shape or data_offsets: " +
                      in_quotes(header.tensors.back().name));
        return go(Place::tensors);
      case Place::metadata:
        return go(Place::tensors);
      default:
        return go(Place::end);
    }
  }

  bool null() { return stop("null where it does not belong"); }
  bool boolean(bool) { return stop("a boolean where none belongs"); }
  bool number_integer(std::int64_t number) {
    return stop("the number " + std::to_string(number));  // the others are unsigned
  }
  bool number_float(double, const std::string&) { return stop("a number that is no integer"); }
  bool binary(Json::binary_t&) { return stop("binary data"); }
  bool parse_error(std::size_t position, const std::string&, const Json::exception&) {
    return stop("no JSON at byte " + std::to_string(position));
  }

 private:
  enum class Place {
    start,
    tensors,
    tensor_value,
    tensor,
    dtype,
    shape_value,
    shape,
    offsets_value,
    offsets,
    metadata_value,
    metadata,
    metadata_text,
    end
  };

  bool go(Place place) {
    place_ = place;
    return true;
  }

  bool stop(std::string reason) {
    if (fault.empty()) fault = std::move(reason);
    return false;
  }

  Place place_ = Place::start;
  std::set<std::string> names_;
  std::string* metadata_ = nullptr;
  bool has_metadata_ = false, has_dtype_ = false, has_shape_ = false, has_offsets_ = false;
  int offsets_ = 0;
};

void check_bytes(const Stored& tensor) {
  if (tensor.end < tensor.begin)
    refuse("has a bad header: the data_offsets of " + in_quotes(tensor.name) + " go backwards");
  const int bits = bits_of(tensor.dtype);
  if (bits == 0) return;
  const auto elements = bytes_of(Element::boolean, tensor.extents);
  std::size_t expected = 0;
  const bool is_too_large =
      !elements || __builtin_mul_overflow(*elements, static_cast<std::size_t>(bits / 8), &expected);
  if (is_too_large || expected != tensor.end - tensor.begin)
    refuse("has a bad header: " + in_quotes(tensor.name) + " has " +
           std::to_string(tensor.end - tensor.begin) + " bytes, expected " +
           (is_too_large ? "more than 2^63" : std::to_string(expected)) + " for " + tensor.dtype +
           " " + shape_text(tensor.extents));
}

void check_cover(const std::vector<Stored>& tensors, std::uint64_t data_bytes) {
  std::vector<const Stored*> sorted;
  for (const Stored& tensor : tensors) sorted.push_back(&tensor);
  std::sort(sorted.begin(), sorted.end(), [](const Stored* a, const Stored* b) {
    return std::pair(a->begin, a->end) < std::pair(b->begin, b->end);
  });
  std::uint64_t covered = 0;
  for (const Stored* tensor : sorted) {
    if (tensor->begin != covered)
      refuse("has a bad header: " + in_quotes(tensor->name) + " begins at byte " +
             std::to_string(tensor->begin) + ", expected " + std::to_string(covered));
    covered = tensor->end;
  }
  if (covered != data_bytes)
    refuse("has " + std::to_string(data_bytes) + " bytes of elements, expected " +
           std::to_string(covered) + " by its header");
}

}  // namespace

SafetensorsHeader parse_safetensors_header(std::string_view text, std::uint64_t data_bytes) {
  HeaderReader reader;
  if (!text.starts_with('{')) refuse("has a bad header: it does not begin with {");
  if (!Json::sax_parse(text.begin(), text.end(), &reader))
    refuse("has a bad header: " + reader.fault);
  for (const Stored& tensor : reader.header.tensors) check_bytes(tensor);
  check_cover(reader.header.tensors, data_bytes);
  return std::move(reader.header);
}

std::string text_of(const SafetensorsHeader& header) try {
  std::string text = "{";
  const auto add = [&text](const std::string& key, const Json& value) {
    if (text.size() > 1) text += ',';
    text += Json(key).dump();
    text += ':';
    text += value.dump();
  };
  if (!header.metadata.empty()) add("__metadata__", header.metadata);
  for (const Stored& tensor : header.tensors)
    add(tensor.name, {{"dtype", tensor.dtype},
                      {"shape", tensor.extents},
                      {"data_offsets", {tensor.begin, tensor.end}}});
  text += "}";
  text.resize((text.size() + 7) / 8 * 8, ' ');
  return text;
} catch (const Json::type_error&) {
  refuse("cannot hold a name that is not UTF-8");
}

const char* safetensors_name_of(Element element) {
  for (const Type& type : types)
    if (type.element == element) return type.name.data();
  return "";
}

std::optional<Element> element_named(std::string_view dtype) {
  const Type* type = type_named(dtype);
  return type == nullptr ? std::nullopt : type->element;
}

int bits_of(std::string_view dtype) {
  const Type* type = type_named(dtype);
  return type == nullptr ? 0 : type->bits;
}

}  // namespace scaledot::cli
