// Weights as a map of coloured cells: in a terminal, or as a picture in SVG.
#pragma once

#include <string>
#include <vector>

#include "alignment.hpp"

namespace scaledot::demo {

struct HeatMap {
  std::string title;
  std::vector<std::string> facts;  // a line each, for under the title
  Matrix weights;
};

struct Labels {
  std::vector<std::string> rows;     // French
  std::vector<std::string> columns;  // English
};

// The colour of a weight from 0 to 1, light to dark: the order shows without seeing colours.
struct Colour {
  int red = 0, green = 0, blue = 0;
};
Colour colour_of(float weight);

// Whether writing on that colour should be light.
bool is_dark(Colour colour);

enum class Ink { plain, coloured };

// Lines for a terminal, the weights in percent; "." is less than half a percent.
std::string terminal_text(const HeatMap& map, const Labels& labels, Ink ink);

// One picture with the maps side by side.
std::string svg_text(const std::vector<HeatMap>& maps, const Labels& labels);

}  // namespace scaledot::demo
