// Checks an edit: the new text, parsed again, must have the same content as before, plus reprise.
#pragma once

#include <optional>
#include <string>

#include "proxy/tools/inject/manifest.hpp"

namespace reprise::tools {

/// Compares the values of an object before and after the edit, with anchors and aliases resolved. Except for
/// the additions of reprise to pods, nothing may be added, missing or changed. Returns a fault at the first
/// place in `before` with a forbidden difference; nothing if there is none.
std::optional<Fault> first_difference(const Node& before, const Node& after);

}  // namespace reprise::tools
