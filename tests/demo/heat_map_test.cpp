#include "heat_map.hpp"

#include <gtest/gtest.h>

#include <regex>

namespace scaledot::demo {
namespace {

const Labels labels{{"\u00e9t\u00e9", "mots"}, {"one", "be", "<&>"}};
const HeatMap map{"Title < & >", {"a fact"}, {2, 3, {1, 0, 0.004f, 0.25f, 0.5f, 0.25f}}};

// The first fault of a text as XML, as far as the demo uses XML; nothing if it is well-formed.
std::string fault_of(const std::string& xml) {
  static const std::regex tag_form(R"(<(/?)([a-z]+)(?: [a-zA-Z]+="[^"<&]*")*(/?)>)");
  static const std::regex text_form("(?:[^<>&]|&(?:amp|lt|gt);)*");
  std::vector<std::string> open;
  std::size_t at = 0;
  while (true) {
    const std::size_t start = std::min(xml.find('<', at), xml.size());
    const std::string text = xml.substr(at, start - at);
    if (!std::regex_match(text, text_form)) return "text: " + text;
    if (start == xml.size()) return open.empty() ? "" : "not closed: " + open.back();
    at = xml.find('>', start) + 1;
    const std::string tag = xml.substr(start, at - start);
    std::smatch parts;
    if (at == 0 || !std::regex_match(tag, parts, tag_form)) return "tag: " + tag;
    if (parts[1].length() > 0) {
      if (open.empty() || open.back() != parts[2]) return "closes nothing: " + tag;
      open.pop_back();
    } else if (parts[3].length() == 0) {
      open.push_back(parts[2]);
    }
  }
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++found;
  return found;
}

TEST(Svg, IsWellFormed) {
  const std::string svg = svg_text({map, map}, labels);
  EXPECT_EQ(fault_of(svg), "");
  EXPECT_EQ(svg.rfind("<svg xmlns=\"http://www.w3.org/2000/svg\"", 0), 0u);
}

TEST(Svg, HasEveryLabelCellAndWeight) {
  const std::string svg = svg_text({map, map}, labels);
  EXPECT_EQ(count(svg, "class=\"cell\""), 12u);
  EXPECT_EQ(count(svg, ">\u00e9t\u00e9</text>"), 2u);
  EXPECT_EQ(count(svg, ">&lt;&amp;&gt;</text>"), 2u);
  EXPECT_EQ(count(svg, "mots -&gt; be: 50 %"), 2u);
  EXPECT_EQ(count(svg, ">Title &lt; &amp; &gt;</text>"), 2u);
  EXPECT_EQ(count(svg, ">a fact</text>"), 2u);
}

TEST(Terminal, PlainTextHasTheWeightsInPercent) {
  EXPECT_EQ(terminal_text(map, labels, Ink::plain),
            "Title < & >\na fact\n\n"
            "     one  be <&>\n"
            " \u00e9t\u00e9 100   .   .\n"
            "mots  25  50  25\n");
}

TEST(Terminal, ColouredTextIsThePlainOneWithColours) {
  const std::string text = terminal_text(map, labels, Ink::coloured);
  EXPECT_EQ(count(text, "\x1b[48;5;"), 6u);
  EXPECT_EQ(count(text, "\x1b[0m"), 6u);
  EXPECT_EQ(std::regex_replace(text, std::regex("\x1b\\[[0-9;]*m"), ""),
            terminal_text(map, labels, Ink::plain));
}

TEST(Colours, GetDarkerWithTheWeight) {
  int last = 3 * 255 + 1;
  for (int step = 0; step <= 20; ++step) {
    const Colour colour = colour_of(static_cast<float>(step) / 20);
    const int sum = colour.red + colour.green + colour.blue;
    EXPECT_LT(sum, last);
    last = sum;
  }
  EXPECT_FALSE(is_dark(colour_of(0)));
  EXPECT_TRUE(is_dark(colour_of(1)));
}

}  // namespace
}  // namespace scaledot::demo
