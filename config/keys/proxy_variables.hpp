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

/// The parent that the variables name.
struct NamedParent {
  std::optional<Parent> parent;  ///< absent: no proxy is named, or no_proxy is `*`
  std::string problem;  ///< why the parent is invalid, with the variable's name; empty if there is no error
};

/// Reads the variables with `lookup`. An empty value counts as absent. A value may lack the scheme (default
/// http) and the port (default of the scheme). The problem never contains a part of a value, which may hold a
/// password.
NamedParent parent_of_variables(
    const std::function<std::optional<std::string>(std::string_view name)>& lookup);

/// Completes `proxy`, `proxy:3128` and `http://proxy` to a whole URL. Returns other texts unchanged, whether
/// valid or not.
std::string completed_proxy_url(std::string_view value);

/// Returns the exceptions (Parent::except) that the text of a no_proxy means. As for curl and Python,
/// `x.test` and `.x.test` both mean that name and all names below it. Discards entries that are not hosts
/// or that have a port: most clients ignore them too, and a client that understands them does not come here.
std::vector<std::string> exceptions_of(std::string_view no_proxy);

}  // namespace reprise::config
