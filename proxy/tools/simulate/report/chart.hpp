// Draws one chart over time as SVG.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proxy/tools/simulate/model/model.hpp"

namespace reprise::tools {

/// A curve with one value per step; a negative value is a gap.
struct Curve {
  std::vector<double> values;
  /// CSS classes of the curve; if `area` is true, the region between curve and axis is filled.
  std::string css;
  bool area = false;
};

struct Chart {
  double width = 260;  ///< width of the whole chart, in SVG units
  double height = 150;
  double left = 40;    ///< width of the space for the labels of the vertical axis
  double highest = 1;  ///< value at the top of the vertical axis; above 0
  std::vector<std::pair<double, std::string>> marks;  ///< marks of the vertical axis: value and label
  std::vector<Curve> curves;                          ///< curves, drawn in this order
  std::vector<std::pair<double, double>> bands;       ///< outages: start and end as fractions of the width
  std::optional<double> limit;                        ///< value of a dashed horizontal line
  std::string from_label;
  std::string to_label;
};

/// Returns a round number at or above the argument, for the top of a scale.
double round_up(double);
/// Returns the chart as SVG elements without an enclosing `<svg>`. Its upper left corner is at 0, 0.
std::string draw(const Chart&);
/// Returns the text escaped for SVG and HTML.
std::string escaped(std::string_view);

/// Returns the start and end of each outage of the model, as fractions of the duration.
std::vector<std::pair<double, double>> bands_of(const Model&);

}  // namespace reprise::tools
