#include "proxy/tools/simulate/report/chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "proxy/tools/simulate/report/palette.hpp"

namespace reprise::tools {
namespace {

constexpr double top = 8;
constexpr double below = 18;

struct Frame {
  double left;
  double right;
  double bottom;
  double highest;

  double x(double share) const { return left + share * (right - left); }
  double y(double value) const { return bottom - std::min(value / highest, 1.0) * (bottom - top); }
};

// Returns the SVG path of a curve that changes its value in steps. A sloped line between two values would
// suggest values that were not measured.
std::string path_of(const Curve& curve, const Frame& frame) {
  std::string path;
  const auto count = static_cast<double>(curve.values.size());
  bool drawing = false;
  for (std::size_t i = 0; i <= curve.values.size(); ++i) {
    const bool shown = i < curve.values.size() && curve.values[i] >= 0;
    const double x = frame.x(static_cast<double>(i) / count);
    if (drawing && !shown)
      path += curve.area ? fmt::format("H{:.1f}V{:.1f}Z", x, frame.bottom) : fmt::format("H{:.1f}", x);
    if (!shown) {
      drawing = false;
      continue;
    }
    const double y = frame.y(curve.values[i]);
    if (!drawing) {
      path += curve.area ? fmt::format("M{:.1f} {:.1f}V{:.1f}", x, frame.bottom, y)
                         : fmt::format("M{:.1f} {:.1f}", x, y);
    } else if (curve.values[i] != curve.values[i - 1]) {
      path += fmt::format("H{:.1f}V{:.1f}", x, y);
    }
    drawing = true;
  }
  return path;
}

std::string paint_of(const Curve& curve) {
  const std::string_view paint = colour(curve.css);
  if (curve.area) return fmt::format(R"(fill="{}" opacity="0.22")", paint);
  return fmt::format(R"(fill="none" stroke="{}" stroke-width="{}" stroke-linejoin="round")", paint,
                     curve.css == "came" ? 1.1 : 1.6);
}

}  // namespace

double round_up(double value) {
  if (value <= 0) return 1;
  double power = 1;
  while (power * 10 <= value) power *= 10;
  while (power > value) power /= 10;
  for (const double step : {1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0}) {
    if (value <= step * power * (1 + 1e-9)) return step * power;
  }
  return 10 * power;
}

std::string draw(const Chart& chart) {
  const Frame frame{chart.left, chart.width - 4, chart.height - below, chart.highest};
  const std::string tick = text_attributes(10.5, "soft");
  std::string out;
  for (const auto& [from, to] : chart.bands) {
    out +=
        fmt::format(R"(<rect class="band" fill="{}" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}"/>)",
                    colour("band"), frame.x(from), top, frame.x(to) - frame.x(from), frame.bottom - top);
  }
  for (const auto& [value, label] : chart.marks) {
    const double y = frame.y(value);
    out += fmt::format(R"(<path class="grid" fill="none" stroke="{}" d="M{:.1f} {:.1f}H{:.1f}"/>)",
                       colour("rule"), frame.left, y, frame.right);
    out += fmt::format(R"(<text class="tick" {} x="{:.1f}" y="{:.1f}" text-anchor="end">{}</text>)", tick,
                       frame.left - 5, y + 3.5, escaped(label));
  }
  for (const Curve& curve : chart.curves) {
    const std::string path = path_of(curve, frame);
    if (!path.empty())
      out += fmt::format(R"(<path class="{} {}" {} d="{}"/>)", curve.area ? "area" : "line", curve.css,
                         paint_of(curve), path);
  }
  if (chart.limit && *chart.limit <= chart.highest) {
    const double y = frame.y(*chart.limit);
    out += fmt::format(
        R"(<path class="limit" fill="none" stroke="{}" stroke-dasharray="4 3" d="M{:.1f} {:.1f}H{:.1f}"/>)",
        colour("soft"), frame.left, y, frame.right);
  }
  out += fmt::format(R"(<text class="tick" {} x="{:.1f}" y="{:.1f}">{}</text>)", tick, frame.left,
                     chart.height - 4, escaped(chart.from_label));
  out += fmt::format(R"(<text class="tick" {} x="{:.1f}" y="{:.1f}" text-anchor="end">{}</text>)", tick,
                     frame.right, chart.height - 4, escaped(chart.to_label));
  return out + "\n";
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default: out += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
    }
  }
  return out;
}

std::vector<std::pair<double, double>> bands_of(const Model& model) {
  std::vector<std::pair<double, double>> bands;
  const auto all = static_cast<double>(model.duration.count());
  for (const Outage& outage : model.outages) {
    const double to = static_cast<double>((outage.from + outage.length).count()) / all;
    bands.emplace_back(static_cast<double>(outage.from.count()) / all, std::min(to, 1.0));
  }
  return bands;
}

}  // namespace reprise::tools
