// What of a configuration a running process cannot take up: it was made by it when it started.
#pragma once

#include <string>
#include <vector>

#include "config/settings.hpp"

namespace reprise::server {

/// Gives `next` the values of `running` for the keys that only a start takes up, and returns the paths of
/// those that differed.
std::vector<std::string> keep_start_only(const config::Settings& running, config::Settings& next);

}  // namespace reprise::server
