// Parses and compares Kubernetes quantities (`100m`, `192Mi`).
#pragma once

#include <compare>
#include <optional>
#include <string_view>

namespace reprise::tools {

/// Returns the quantity as a number of cores or bytes. Nothing if the text is not a quantity, or is negative.
std::optional<double> quantity(std::string_view text);

/// Compares two quantities. Two quantities are equal if their relative difference is at most 1e-12, which
/// allows for rounding errors. The result is unordered if either text is not a quantity.
std::partial_ordering compare_quantities(std::string_view one, std::string_view other);

}  // namespace reprise::tools
