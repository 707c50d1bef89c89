// Checks for `explain` that need no connection. They find addresses that are never dialled, and methods that
// are not registered.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "config/settings.hpp"
#include "proxy/policy/decision/outcome.hpp"

namespace reprise::cli {

/// Why the upstream would not be dialled.
struct NeverDialled {
  policy::Failed failure;
  std::string words;
};

/// Returns why the proxy never dials `host`, or nothing if the proxy may dial `host`. Checks only a host that
/// is an IP address. For a host name, the proxy checks the addresses at each dial.
std::optional<NeverDialled> never_dialled(const config::Settings&, std::string_view host, std::uint16_t port);

/// Returns a sentence that says whether a request for `host` goes through the parent proxy, or an empty text
/// if no parent proxy is configured.
std::string way_to(const config::Settings&, std::string_view host);

/// Returns a warning if the method is not in the IANA registry (RFC 9110 16.1), otherwise an empty text. The
/// proxy forwards a request with such a method, but does not treat the method as idempotent.
std::string warning_of_method(std::string_view method);

}  // namespace reprise::cli
