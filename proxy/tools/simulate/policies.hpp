// Policies to compare with a configuration: the configuration without one of its parts, or without retries.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/tools/simulate/run.hpp"

namespace reprise::tools {

/// Returns `none immediate no-jitter no-budget config`, in the order in which they are shown.
std::vector<std::string_view> policy_words();
/// Returns nothing for an unknown word.
std::optional<Subject> policy_of(std::string_view word, const policy::RouteTable& config);

/// Splits a list whose items may each be several words separated by commas.
std::vector<std::string> split_policies(const std::vector<std::string>& lists);
/// Returns the message for a word that is neither a policy nor a file. A word with a dot or a slash is a
/// file.
std::string unknown_policy(std::string_view word);

}  // namespace reprise::tools
