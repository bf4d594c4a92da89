#include <algorithm>
#include <cmath>
#include <ostream>
#include <sstream>
#include <string>

#include "heat_map.hpp"
#include "text.hpp"

namespace scaledot::demo {
namespace {

// Lengths are in pixels. A letter of a label is about `letter` wide.
constexpr int cell_width = 38, cell_height = 27, letter = 9, line = 20, border = 24;
constexpr int legend_width = 76, legend_height = 220;

struct Layout {
  int rows, columns, facts;
  int row_labels;     // width left of the cells
  int column_labels;  // height above the cells, and width that the last label takes beyond them

  int cells_width() const { return columns * cell_width; }
  int cells_top() const { return border + (facts + 5) * line + column_labels; }
  int panel_width() const { return row_labels + std::max(cells_width() + column_labels, 540); }
  int height() const { return cells_top() + std::max(rows * cell_height, legend_height) + border; }
};

int longest(const std::vector<std::string>& labels) {
  int most = 1;
  for (const std::string& label : labels) most = std::max(most, length_of(label));
  return most;
}

Layout layout_of(const std::vector<HeatMap>& maps, const Labels& labels) {
  std::size_t facts = 0;
  for (const HeatMap& map : maps) facts = std::max(facts, map.facts.size());
  return {static_cast<int>(labels.rows.size()), static_cast<int>(labels.columns.size()),
          static_cast<int>(facts), 2 * line + letter * longest(labels.rows),
          line / 2 + letter * longest(labels.columns) * 5 / 7};  // slanted by 45 degrees
}

std::string escaped(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    if (c == '&')
      safe += "&amp;";
    else if (c == '<')
      safe += "&lt;";
    else if (c == '>')
      safe += "&gt;";
    else
      safe += c;
  }
  return safe;
}

struct Place {
  int x, y;
};

// `style` names classes of the style sheet, `turn` is in degrees.
void write_text(std::ostream& svg, Place at, const char* style, const std::string& text,
                int turn = 0) {
  svg << "<text class=\"" << style << "\" x=\"" << at.x << "\" y=\"" << at.y << '"';
  if (turn != 0) svg << " transform=\"rotate(" << turn << ' ' << at.x << ' ' << at.y << ")\"";
  svg << '>' << escaped(text) << "</text>\n";
}

std::string hex(Colour colour) {
  constexpr char digits[] = "0123456789abcdef";
  std::string text = "#";
  for (const int part : {colour.red, colour.green, colour.blue})
    text += {digits[part / 16], digits[part % 16]};
  return text;
}

void write_cell(std::ostream& svg, Place at, float weight, const std::string& words) {
  const Colour colour = colour_of(weight);
  const std::string percent = std::to_string(std::lround(100 * weight));
  svg << "<rect class=\"cell\" x=\"" << at.x << "\" y=\"" << at.y << "\" width=\"" << cell_width
      << "\" height=\"" << cell_height << "\" fill=\"" << hex(colour) << "\"><title>"
      << escaped(words) << ": " << percent << " %</title></rect>\n";
  if (percent != "0")
    write_text(svg, {at.x + cell_width / 2, at.y + cell_height / 2 + 4},
               is_dark(colour) ? "small middle light" : "small middle", percent);
}

void write_panel(std::ostream& svg, const HeatMap& map, const Labels& labels, const Layout& layout,
                 int left) {
  const int cells_left = left + layout.row_labels;
  const int top = layout.cells_top();
  int y = border + 3 * line;
  write_text(svg, {cells_left, y}, "bold", map.title);
  for (const std::string& fact : map.facts) write_text(svg, {cells_left, y += line}, "fact", fact);
  write_text(svg, {cells_left + layout.cells_width() / 2, top - layout.column_labels - line / 2},
             "axis middle", "English words (keys)");
  write_text(svg, {left + line / 2, top + layout.rows * cell_height / 2}, "axis middle",
             "French words (queries)", -90);
  for (std::size_t j = 0; j < labels.columns.size(); ++j) {
    const int x = cells_left + static_cast<int>(j) * cell_width + cell_width / 2;
    write_text(svg, {x + 4, top - 8}, "label", labels.columns[j], -45);
  }
  for (std::size_t i = 0; i < labels.rows.size(); ++i) {
    const int row_top = top + static_cast<int>(i) * cell_height;
    write_text(svg, {cells_left - 8, row_top + cell_height / 2 + 5}, "label end", labels.rows[i]);
    for (std::size_t j = 0; j < labels.columns.size(); ++j)
      write_cell(svg, {cells_left + static_cast<int>(j) * cell_width, row_top}, map.weights(i, j),
                 labels.rows[i] + " -> " + labels.columns[j]);
  }
}

void write_legend(std::ostream& svg, Place at) {
  write_text(svg, {at.x, at.y - 12}, "axis", "weight");
  constexpr int steps = 44;
  constexpr int step_height = legend_height / steps;
  for (int step = 0; step < steps; ++step)
    svg << "<rect x=\"" << at.x << "\" y=\"" << at.y + step * step_height
        << "\" width=\"18\" height=\"" << step_height << "\" fill=\""
        << hex(colour_of(1 - (static_cast<float>(step) + 0.5f) / steps)) << "\"/>\n";
  svg << "<rect x=\"" << at.x << "\" y=\"" << at.y << "\" width=\"18\" height=\"" << legend_height
      << "\" fill=\"none\" stroke=\"#555\"/>\n";
  for (const int percent : {0, 25, 50, 75, 100})
    write_text(svg, {at.x + 26, at.y + (100 - percent) * legend_height / 100 + 4}, "small",
               std::to_string(percent) + " %");
}

constexpr const char* style_sheet = R"(<style>
text { font-family: "DejaVu Sans", Verdana, Arial, sans-serif; font-size: 14px; fill: #1a1a1a; }
.heading { font-size: 19px; font-weight: bold; }
.bold { font-size: 15px; font-weight: bold; }
.fact { font-size: 13px; fill: #444; }
.axis { font-size: 13px; font-style: italic; fill: #444; }
.small { font-size: 11px; }
.middle { text-anchor: middle; }
.end { text-anchor: end; }
.light { fill: #fff; }
.cell { stroke: #d8d8d8; }
</style>
)";

}  // namespace

std::string svg_text(const std::vector<HeatMap>& maps, const Labels& labels) {
  const Layout layout = layout_of(maps, labels);
  const int panels = static_cast<int>(maps.size());
  const int legend_left = border + panels * (layout.panel_width() + border);
  const int width = legend_left + legend_width + border;
  std::ostringstream svg;
  svg << "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" << width << "\" height=\""
      << layout.height() << "\" viewBox=\"0 0 " << width << ' ' << layout.height()
      << "\" role=\"img\">\n<title>Attention of French words to English words</title>\n"
      << style_sheet << "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n";
  write_text(svg, {border, border + line}, "heading",
             "How much each French word looks at each English word, in percent");
  for (int panel = 0; panel < panels; ++panel)
    write_panel(svg, maps[static_cast<std::size_t>(panel)], labels, layout,
                border + panel * (layout.panel_width() + border));
  write_legend(svg, {legend_left, layout.cells_top()});
  svg << "</svg>\n";
  return svg.str();
}

}  // namespace scaledot::demo
