// Draws one chart over time as SVG.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proxy/tools/simulate/model/model.hpp"

namespace reprise::tools {

/// One value per step; a negative value leaves a gap.
struct Curve {
  std::vector<double> values;
  std::string css;  ///< CSS classes of the line; `area` fills down to the axis
  bool area = false;
};

struct Chart {
  double width = 260;  ///< width of the whole chart, in units of the picture
  double height = 150;
  double left = 40;                                   ///< room for the labels of the axis
  double highest = 1;                                 ///< top of the axis, above 0
  std::vector<std::pair<double, std::string>> marks;  ///< marks of the axis: value and label
  std::vector<Curve> curves;                          ///< drawn in this order
  std::vector<std::pair<double, double>> bands;  ///< bands of trouble: start and end, 0 to 1 of the width
  std::optional<double> limit;                   ///< a dashed horizontal line
  std::string from_label;
  std::string to_label;
};

/// Returns a round number for a scale, not below the argument.
double round_up(double);
/// Returns the content between `<svg ...>` and `</svg>`, with its upper left corner at 0, 0.
std::string draw(const Chart&);
/// Escapes text for SVG and HTML.
std::string escaped(std::string_view);

/// Returns the outages of the model as fractions of the duration.
std::vector<std::pair<double, double>> bands_of(const Model&);

}  // namespace reprise::tools
