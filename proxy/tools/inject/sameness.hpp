// The last word on an edit: the text that was written, read again, says what it said before, and reprise.
#pragma once

#include <optional>
#include <string>

#include "proxy/tools/inject/manifest.hpp"

namespace reprise::tools {

/// Compares the values of an object before and after, past all anchors and aliases: besides
/// what reprise adds to its pods, nothing may be more, less or other. Returns the first
/// place, of `before`, where that is not so.
std::optional<Fault> first_difference(const Node& before, const Node& after);

}  // namespace reprise::tools
