#include "proxy/tools/simulate/report/report_svg.hpp"

#include <fmt/format.h>

#include "proxy/tools/simulate/report/courses.hpp"
#include "proxy/tools/simulate/report/palette.hpp"
#include "proxy/tools/simulate/report/words.hpp"

namespace reprise::tools {
namespace {

constexpr double panel = 196;
constexpr double gap = 12;
constexpr double head = 74;
constexpr double chart_height = 132;
constexpr std::size_t most_in_row = 5;

std::string recovery_words(const Measures& measures) {
  if (!measures.trouble_ended) return fmt::format("{} attempts per request", times(measures.amplification()));
  return measures.recovered ? "recovered " + recovery_text(measures) : "not recovered";
}

std::string panel_of(const Report& report, std::size_t place, double x, double y) {
  const Compared& one = report.compared[place];
  Chart chart = load_chart(report, place);
  chart.width = panel;
  chart.height = chart_height;
  std::string out = fmt::format("<g transform=\"translate({:.0f} {:.0f})\">", x, y);
  out += fmt::format(R"(<text class="name" {} x="0" y="14">{}</text>)", text_attributes(13, "ink", true),
                     escaped(one.name));
  out += fmt::format(R"(<text class="figure {}" {} x="0" y="40">{}</text>)", colour_of(place),
                     text_attributes(21, colour_of(place), true), percent(one.measures.success_share()));
  out += fmt::format(R"(<text class="tick" {} x="0" y="56">succeed; {}</text>)",
                     text_attributes(10.5, "soft"), recovery_words(one.measures));
  return out + "<g transform=\"translate(0 62)\">" + draw(chart) + "</g></g>\n";
}

}  // namespace

std::string to_svg(const Report& report) {
  const std::size_t count = report.compared.size();
  const std::size_t in_row = std::max<std::size_t>(1, std::min(count, most_in_row));
  const std::size_t rows = (count + in_row - 1) / in_row;
  const double width = 2 * gap + static_cast<double>(in_row) * (panel + gap) - gap;
  const double row = 62 + chart_height + gap;
  const double height = head + static_cast<double>(rows) * row + 10;
  std::string out = fmt::format(
      R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {:.0f} {:.0f}" width="{:.0f}" height="{:.0f}" role="img" aria-labelledby="t d">)",
      width, height, width, height);
  out += "\n<title id=\"t\">Load of an upstream under " + std::to_string(count) +
         " retry policies</title>\n<desc id=\"d\">";
  for (const Compared& one : report.compared) {
    out += fmt::format("{}: {} succeed, {} attempts per request, peak {}, recovered {}. ", escaped(one.name),
                       percent(one.measures.success_share()), times(one.measures.amplification()),
                       per_second(one.measures.peak_load()), recovery_text(one.measures));
  }
  out += "</desc>\n<style>" + dark_style() + "</style>\n";
  out += fmt::format(R"(<rect class="back" fill="{}" width="{:.0f}" height="{:.0f}" rx="8"/>)",
                     colour("card"), width, height);
  out += fmt::format(R"(<text class="title" {} x="{:.0f}" y="26">Attempts per second at the upstream</text>)",
                     text_attributes(16, "ink", true), gap);
  out += fmt::format(
      R"(<text class="tick" {} x="{:.0f}" y="44">Red: the upstream is down. Thin line: requests that arrived. Dashed: capacity of the upstream.</text>)",
      text_attributes(10.5, "soft"), gap);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t above = i / in_row;
    const double x = gap + static_cast<double>(i % in_row) * (panel + gap);
    out += "\n" + panel_of(report, i, x, head - 6 + static_cast<double>(above) * row);
  }
  return out + "</svg>\n";
}

}  // namespace reprise::tools
