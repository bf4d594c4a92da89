#include <algorithm>
#include <cmath>

#include "heat_map.hpp"
#include "text.hpp"

namespace scaledot::demo {
namespace {

constexpr int narrowest = 4;  // a blank and "100"

// To the right of a column so wide.
std::string aligned(const std::string& text, int width) {
  return std::string(static_cast<std::size_t>(std::max(0, width - length_of(text))), ' ') + text;
}

std::string percent(float weight) {
  const long rounded = std::lround(100 * weight);
  return rounded == 0 ? "." : std::to_string(rounded);
}

// The nearest of the 6 * 6 * 6 colours that terminals have from number 16 on.
int palette_number(Colour colour) {
  const auto level = [](int value) { return value < 48 ? 0 : value < 115 ? 1 : (value - 35) / 40; };
  return 16 + 36 * level(colour.red) + 6 * level(colour.green) + level(colour.blue);
}

std::string cell(float weight, int width, Ink ink) {
  const std::string text = aligned(percent(weight), width);
  if (ink == Ink::plain) return text;
  const Colour colour = colour_of(weight);
  return "\x1b[48;5;" + std::to_string(palette_number(colour)) + "m\x1b[38;5;" +
         (is_dark(colour) ? "231" : "16") + "m" + text + "\x1b[0m";
}

}  // namespace

std::string terminal_text(const HeatMap& map, const Labels& labels, Ink ink) {
  int margin = 0;
  for (const std::string& label : labels.rows) margin = std::max(margin, length_of(label));
  std::vector<int> widths;
  for (const std::string& label : labels.columns)
    widths.push_back(std::max(narrowest, length_of(label) + 1));

  std::string text = map.title + "\n";
  for (const std::string& fact : map.facts) text += fact + "\n";
  text += '\n';
  text.append(static_cast<std::size_t>(margin), ' ');
  for (std::size_t j = 0; j < widths.size(); ++j) text += aligned(labels.columns[j], widths[j]);
  text += "\n";
  for (std::size_t i = 0; i < map.weights.rows; ++i) {
    text += aligned(labels.rows[i], margin);
    for (std::size_t j = 0; j < map.weights.columns; ++j)
      text += cell(map.weights(i, j), widths[j], ink);
    text += "\n";
  }
  return text;
}

}  // namespace scaledot::demo
