// Replaces `${env:NAME}`, `${env:NAME:-default}` and `${file:/path}` in the values of a configuration.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "config/yaml/document.hpp"
#include "config/yaml/report.hpp"

namespace reprise::config {

/// Looks up an environment variable. Returns nothing if the variable is not set. Tests use a function that
/// does not read the real environment.
using Environment = std::function<std::optional<std::string>(std::string_view name)>;

inline constexpr std::size_t largest_replacement = 64 * 1024;

/// Replaces each `${..}` in every scalar value under `root`, but not in keys and not in inserted text. The
/// text `$${` becomes a literal `${`. A file is inserted without its last line end. Errors: a missing
/// variable without a default, a file that cannot be read or is over 64 KiB, and a control character in
/// inserted text. After an error, the node is `broken`.
void replace_all(Node& root, const Environment&, Report&);

}  // namespace reprise::config
