// Policies to compare with a configuration: the same configuration without one of its parts, or without
// retries.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/tools/simulate/run.hpp"

namespace reprise::tools {

/// Returns the words `none immediate no-jitter no-budget config`, in the order in which they are shown.
std::vector<std::string_view> policy_words();
/// Returns the policy that the word names, derived from `config`. Returns nothing for an unknown word.
std::optional<Subject> policy_of(std::string_view word, const policy::RouteTable& config);

/// Splits the items at their commas; each item may name several policies.
std::vector<std::string> split_policies(const std::vector<std::string>& lists);
/// Returns the error message for a word that is neither a policy nor a file. The caller takes a word with a
/// dot or a slash for the name of a file.
std::string unknown_policy(std::string_view word);

}  // namespace reprise::tools
