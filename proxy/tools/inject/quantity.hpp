// Quantities of Kubernetes (`100m`, `192Mi`): whether a text is one, and which of two is more.
#pragma once

#include <compare>
#include <optional>
#include <string_view>

namespace reprise::tools {

/// In the unit of the resource: cores, bytes. Nothing if the text is no quantity, or is negative.
std::optional<double> quantity(std::string_view text);

/// Of two quantities; those that differ by less than what a float holds are equal. Unordered if one is none.
std::partial_ordering compare_quantities(std::string_view one, std::string_view other);

}  // namespace reprise::tools
