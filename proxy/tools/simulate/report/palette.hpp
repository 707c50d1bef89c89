// The colours of the charts: SVG attributes for light pages, and a style sheet for dark pages.
#pragma once

#include <string>
#include <string_view>

namespace reprise::tools {

/// Returns a colour for a light page as `#rrggbb`. The names are ink, soft, rule, card, band, came, and p0 to
/// p7 for the policies.
std::string_view colour(std::string_view name);
/// Returns the SVG attributes of a text: font, size and colour.
std::string text_attributes(double size, std::string_view colour_name, bool bold = false);
/// Returns the style rules for a dark page. A light page needs no rules.
std::string dark_style();

}  // namespace reprise::tools
