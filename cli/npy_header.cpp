#include "npy_header.hpp"

#include <array>
#include <charconv>

#include "failure.hpp"

namespace scaledot::cli {

namespace {

struct TypeCode {
  std::string_view code;  // numpy's, without the byte order
  Element element;
};

constexpr std::array types{TypeCode{"f4", Element::f32},     TypeCode{"f2", Element::f16},
                           TypeCode{"f8", Element::f64},     TypeCode{"i8", Element::i64},
                           TypeCode{"b1", Element::boolean}, TypeCode{"i4", Element::i32}};

// What is left of a Python literal.
class Literal {
 public:
  explicit Literal(std::string_view text) : rest_(text) {}

  // Takes `word` away if it comes next, blanks before it not counted.
  bool take(std::string_view word) {
    skip_blanks();
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }

  void expect(std::string_view word) {
    if (!take(word)) refuse("has a bad header: expected " + in_quotes(word) + " before " + place());
  }

  std::string_view string() {
    skip_blanks();
    const char quote = rest_.empty() ? '\0' : rest_.front();
    if (quote != '\'' && quote != '"')
      refuse("has a bad header: expected a string before " + place());
    const std::size_t end = rest_.find(quote, 1);
    if (end == std::string_view::npos) refuse("has a bad header: a string without an end");
    const std::string_view value = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    return value;
  }

  Index extent() {
    skip_blanks();
    Index value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc() || value < 0)
      refuse("has a bad header: expected an extent before " + place());
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    take("L");  // Python 2 wrote long integers so
    return value;
  }

  bool at_end() {
    skip_blanks();
    return rest_.empty();
  }

  std::string place() { return rest_.empty() ? "its end" : in_quotes(rest_.substr(0, 20)); }

 private:
  void skip_blanks() {
    const std::size_t start = rest_.find_first_not_of(" \t\r\n");
    rest_.remove_prefix(start == std::string_view::npos ? rest_.size() : start);
  }

  std::string_view rest_;
};

void parse_type(Literal& text, NpyHeader& header) {
  if (text.take("[")) refuse("holds records; one number an element is expected");
  const std::string_view type = text.string();
  const std::string_view code = type.substr(type.find_first_not_of("<>=|") == 1 ? 1 : 0);
  header.is_big_endian = type.starts_with('>');
  for (const TypeCode& known : types) {
    if (code != known.code) continue;
    header.element = known.element;
    return;
  }
  std::string message =
      "has elements of type " + in_quotes(type) + ", expected f2, f4, f8, b1, i4 or i8";
  if (code == "V2") message += " (bf16 has no type in numpy; .safetensors keeps it)";
  refuse(message);
}

void parse_shape(Literal& text, NpyHeader& header) {
  text.expect("(");
  while (!text.take(")")) {
    header.extents.push_back(text.extent());
    if (text.take(",")) continue;
    if (header.extents.size() == 1) text.expect(",");  // in Python (3) is a number, (3,) a tuple
    text.expect(")");
    return;
  }
}

void parse_order(Literal& text, NpyHeader& header) {
  const bool is_fortran = text.take("True");
  if (!is_fortran) text.expect("False");
  header.order = is_fortran ? Order::fortran : Order::c;
}

}  // namespace

NpyHeader parse_npy_header(std::string_view header_text) {
  struct Member {
    std::string_view key;
    void (*parse)(Literal&, NpyHeader&);
    bool is_found = false;
  };
  std::array members{Member{"descr", parse_type}, Member{"fortran_order", parse_order},
                     Member{"shape", parse_shape}};
  NpyHeader header;
  Literal text(header_text);
  text.expect("{");
  while (!text.take("}")) {
    const std::string_view key = text.string();
    text.expect(":");
    Member* member = nullptr;
    for (Member& each : members)
      if (each.key == key) member = &each;
    if (member == nullptr || member->is_found)
      refuse("has a bad header: the key " + in_quotes(key) + (member ? " twice" : ""));
    member->is_found = true;
    member->parse(text, header);
    if (text.take(",")) continue;
    text.expect("}");
    break;
  }
  for (const Member& each : members)
    if (!each.is_found) refuse("has a bad header: no key " + in_quotes(each.key));
  if (!text.at_end()) refuse("has a bad header: it goes on with " + text.place());
  return header;
}

std::string npy_header_of(Element element, const std::vector<Index>& extents) {
  std::string_view code;
  for (const TypeCode& known : types)
    if (known.element == element) code = known.code;
  std::string text = "{'descr': '";
  text += element == Element::boolean ? '|' : '<';
  text += code;
  text += "', 'fortran_order': False, 'shape': (";
  for (std::size_t axis = 0; axis < extents.size(); ++axis) {
    if (axis > 0) text += ", ";
    text += std::to_string(extents[axis]);
  }
  if (extents.size() == 1) text += ',';  // Python's tuple of one
  text += "), }";

  constexpr std::size_t start = 10, alignment = 64;  // magic, version and length; of the data
  while ((start + text.size() + 1) % alignment != 0) text += ' ';
  text += '\n';
  std::string header("\x93NUMPY\x01\x00", 8);
  header += static_cast<char>(text.size() & 0xff);
  header += static_cast<char>(text.size() >> 8);
  return header + text;
}

}  // namespace scaledot::cli
