// What explain finds before anything is dialled: an address
// that never is, a method that nobody has registered.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "config/settings.hpp"
#include "proxy/policy/decision/outcome.hpp"

namespace reprise::cli {

/// Why nothing would be dialled.
struct NeverDialled {
  policy::Failed failure;
  std::string words;
};

/// Of a host that is written as an address. What a name resolves to is judged at each dial, and not here.
std::optional<NeverDialled> never_dialled(const config::Settings&, std::string_view host, std::uint16_t port);

/// A sentence on whether a request for that host goes through the parent proxy. Empty if none is configured.
std::string way_to(const config::Settings&, std::string_view host);

/// A warning where the method is in no registry (RFC 9110 16.1): it is forwarded, and no rule calls it
/// idempotent by itself. Empty for those that are registered.
std::string warning_of_method(std::string_view method);

}  // namespace reprise::cli
