// Reads the parent proxy from the environment variables http_proxy, https_proxy and no_proxy, in upper or
// lower case.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/settings.hpp"

namespace reprise::config {

/// The parent proxy that the environment variables name.
struct NamedParent {
  std::optional<Parent> parent;  ///< absent if no proxy is named, or if no_proxy is `*`
  std::string problem;           ///< the error, with the variable's name; empty if there is no error
};

/// Reads the variables with `lookup`. An empty value counts as absent. The default scheme is http, and the
/// default port is the port of the scheme. `problem` never quotes a value, because a value may hold a
/// password.
NamedParent parent_of_variables(
    const std::function<std::optional<std::string>(std::string_view name)>& lookup);

/// Completes `proxy`, `proxy:3128` and `http://proxy` to a full URL. Returns any other text unchanged, even
/// if it is invalid.
std::string completed_proxy_url(std::string_view value);

/// Returns the exceptions (Parent::except) for the text of a no_proxy variable. As in curl and Python, both
/// `x.test` and `.x.test` mean the name `x.test` and all names below it. Discards entries that are not hosts.
/// Also discards entries with a port: most clients ignore such entries, and the other clients do not send
/// requests for these hosts to a proxy.
std::vector<std::string> exceptions_of(std::string_view no_proxy);

}  // namespace reprise::config
