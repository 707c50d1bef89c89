// `${env:NAME}`, `${env:NAME:-default}` and `${file:/path}` in the values of a configuration.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "config/yaml/document.hpp"
#include "config/yaml/report.hpp"

namespace reprise::config {

/// What a variable of the environment holds, or nothing; tests pass their own.
using Environment = std::function<std::optional<std::string>(std::string_view name)>;

inline constexpr std::size_t largest_replacement = 64 * 1024;

/// Replaces them in every scalar value under `root`, never in keys, never in what was put in.
/// `$${` stands for `${`. A file's last line end is dropped. A missing variable without default, a file that
/// cannot be read or is over 64 KiB, and a control character in what comes in are errors, and the node is
/// then `broken`.
void replace_all(Node& root, const Environment&, Report&);

}  // namespace reprise::config
