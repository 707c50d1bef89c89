// Checks an edit: the new text, parsed again, must have the content that it had before, plus reprise.
#pragma once

#include <optional>
#include <string>

#include "proxy/tools/inject/manifest.hpp"

namespace reprise::tools {

/// Compares the values of an object before and after, with all anchors and aliases resolved. Except for what
/// reprise adds to its pods, nothing may be added, missing or changed. Returns the first place in `before`
/// that violates this.
std::optional<Fault> first_difference(const Node& before, const Node& after);

}  // namespace reprise::tools
