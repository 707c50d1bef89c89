// The colours of the charts: as attributes for every program that shows SVG, and as a style sheet for a dark
// page.
#pragma once

#include <string>
#include <string_view>

namespace reprise::tools {

/// The colour of that name on a light page, as `#rrggbb`. Names: ink soft rule card band came, and p0 to p7
/// for the policies.
std::string_view colour(std::string_view name);
/// Attributes of a text: font, size and colour.
std::string text_attributes(double size, std::string_view colour_name, bool bold = false);
/// The rules that a browser applies on a dark page; nothing needs them on a light one.
std::string dark_style();

}  // namespace reprise::tools
