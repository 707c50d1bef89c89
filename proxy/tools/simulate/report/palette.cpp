#include "proxy/tools/simulate/report/palette.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>

namespace reprise::tools {
namespace {

struct Colour {
  std::string_view name;
  std::string_view light;
  std::string_view dark;
};

constexpr std::array<Colour, 14> palette{{{"ink", "#1c2430", "#e8ecf1"},
                                          {"soft", "#5b6675", "#a3aebc"},
                                          {"rule", "#e1e5ea", "#2c343f"},
                                          {"card", "#ffffff", "#171c23"},
                                          {"band", "#f6d9d5", "#4b2626"},
                                          {"came", "#1c2430", "#f2f4f7"},
                                          {"p0", "#66707d", "#a9b3bf"},
                                          {"p1", "#c2570c", "#f19a4e"},
                                          {"p2", "#6d4bd0", "#ae96ff"},
                                          {"p3", "#c01d4b", "#ff7394"},
                                          {"p4", "#0b7a6b", "#40cbb4"},
                                          {"p5", "#1b66c9", "#72adff"},
                                          {"p6", "#8a6d00", "#d9b83a"},
                                          {"p7", "#a02f9c", "#e58be0"}}};

const Colour& found(std::string_view name) {
  const auto* const at =
      std::find_if(palette.begin(), palette.end(), [&](const Colour& each) { return each.name == name; });
  assert(at != palette.end());
  return *at;
}

}  // namespace

std::string_view colour(std::string_view name) { return found(name).light; }

std::string text_attributes(double size, std::string_view colour_name, bool bold) {
  return fmt::format(
      R"(font-family="system-ui, -apple-system, 'Segoe UI', Roboto, 'Liberation Sans', sans-serif" font-size="{:g}"{} fill="{}")",
      size, bold ? R"( font-weight="600")" : "", colour(colour_name));
}

std::string dark_style() {
  const auto dark = [](std::string_view name) { return found(name).dark; };
  std::string out = fmt::format(
      "\n@media (prefers-color-scheme:dark){{\nsvg text{{fill:{}}}svg .tick{{fill:{}}}svg .back{{fill:{}}}"
      "svg .band{{fill:{}}}svg .grid{{stroke:{}}}svg .limit{{stroke:{}}}\n",
      dark("ink"), dark("soft"), dark("card"), dark("band"), dark("rule"), dark("soft"));
  for (const Colour& each : palette) {
    if (each.name != "came" && !each.name.starts_with('p')) continue;
    out += fmt::format("svg .line.{0}{{stroke:{1}}}svg .area.{0},svg .figure.{0}{{fill:{1}}}\n", each.name,
                       each.dark);
  }
  return out + "}\n";
}

}  // namespace reprise::tools
