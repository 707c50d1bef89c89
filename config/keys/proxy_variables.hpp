// The parent proxy that environment variables name: http_proxy, https_proxy and no_proxy, in either spelling.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/settings.hpp"

namespace reprise::config {

/// What the variables ask for.
struct NamedParent {
  std::optional<Parent> parent;  ///< absent: no proxy is named, or no_proxy is `*`
  std::string problem;  ///< why no parent can be made of them, with the variable's name; empty if one can
};

/// Reads the variables by `lookup`. An empty value counts as absent. A value may lack the scheme and the
/// port, which are then http and that of the scheme. The problem never has a part of a value: it may hold a
/// password.
NamedParent parent_of_variables(
    const std::function<std::optional<std::string>(std::string_view name)>& lookup);

/// Completes `proxy`, `proxy:3128` and `http://proxy` to a whole URL. Any other text stays as wrong as it
/// was.
std::string completed_proxy_url(std::string_view value);

/// Returns the exceptions (Parent::except) that the text of a no_proxy means. As for curl and Python,
/// `x.test` and `.x.test` both mean that name and all names below it. Discards entries that are not hosts
/// or that have a port: most clients ignore them too, and a client that understands them does not come here.
std::vector<std::string> exceptions_of(std::string_view no_proxy);

}  // namespace reprise::config
