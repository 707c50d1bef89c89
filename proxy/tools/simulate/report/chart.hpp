// One chart of a course over time, as SVG.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proxy/tools/simulate/model/model.hpp"

namespace reprise::tools {

/// A course, one value a step; below 0: nothing to show there.
struct Curve {
  std::vector<double> values;
  std::string css;  ///< classes of its line; `area` fills down to the axis
  bool area = false;
};

struct Chart {
  double width = 260;  ///< of the whole, in the units of the picture
  double height = 150;
  double left = 40;                                   ///< room for the labels of the axis
  double highest = 1;                                 ///< the top of the axis, above 0
  std::vector<std::pair<double, std::string>> marks;  ///< of the axis: value and label
  std::vector<Curve> curves;                          ///< those behind first
  std::vector<std::pair<double, double>> bands;       ///< of trouble: from, to; 0 to 1 of the width
  std::optional<double> limit;                        ///< a dashed line across
  std::string from_label;
  std::string to_label;
};

/// A number from which a scale is easily read, not below this one.
double round_up(double);
/// What stands between `<svg ...>` and `</svg>`, with its upper left corner at 0, 0.
std::string draw(const Chart&);
/// Text for SVG and HTML.
std::string escaped(std::string_view);

/// The outages of the model, as parts of the duration.
std::vector<std::pair<double, double>> bands_of(const Model&);

}  // namespace reprise::tools
