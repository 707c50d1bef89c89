// Environment variables, chosen by the test, of a process that a service manager has started.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "proxy/net/systemd/environment.hpp"

namespace reprise::play {

inline net::Environment of(std::map<std::string, std::string, std::less<>> variables) {
  return [variables = std::move(variables)](std::string_view name) {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  };
}

}  // namespace reprise::play
