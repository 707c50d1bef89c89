// Findings of explain that need no dial: an address that is never dialled, a method that is not registered.
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

/// Returns why the proxy never dials `host`; nothing if it may dial the host. Judges only a host that is an
/// IP address. The addresses of a host name are checked at each dial.
std::optional<NeverDialled> never_dialled(const config::Settings&, std::string_view host, std::uint16_t port);

/// Returns a sentence that says whether a request for `host` goes through the parent proxy. Empty if no
/// parent is configured.
std::string way_to(const config::Settings&, std::string_view host);

/// Returns a warning if the method is not in the IANA registry (RFC 9110 16.1): such a request is forwarded,
/// but does not count as idempotent by its method. Empty for registered methods.
std::string warning_of_method(std::string_view method);

}  // namespace reprise::cli
