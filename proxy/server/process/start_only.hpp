// The configuration keys that a reload cannot apply, because their values are used only at the start.
#pragma once

#include <string>
#include <vector>

#include "config/settings.hpp"

namespace reprise::server {

/// Copies the values of all keys that a reload cannot apply from `running` to `next`. Returns the paths of
/// the keys that differed.
std::vector<std::string> keep_start_only(const config::Settings& running, config::Settings& next);

}  // namespace reprise::server
