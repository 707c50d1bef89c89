// The policies that are shown beside a configuration: what
// it would be without one of its parts, or without retries.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/tools/simulate/run.hpp"

namespace reprise::tools {

/// `none immediate no-jitter no-budget config`, in the order in which they are shown.
std::vector<std::string_view> policy_words();
/// Nothing for a word that is none of these.
std::optional<Subject> policy_of(std::string_view word, const policy::RouteTable& config);

/// The words of a list, each of which may be several with commas between.
std::vector<std::string> split_policies(const std::vector<std::string>& lists);
/// What to say of a word that is neither a policy nor, by a point or a slash in it, a file.
std::string unknown_policy(std::string_view word);

}  // namespace reprise::tools
