// The methods of the IANA registry, and whether each is safe and idempotent.
#pragma once

#include <span>
#include <string_view>

namespace reprise::policy {

/// One row of the IANA HTTP Method Registry (RFC 9110 16.1.1).
struct RegisteredMethod {
  std::string_view name;
  bool safe;        ///< requests no change on the server (RFC 9110 9.2.1)
  bool idempotent;  ///< repeating has the same effect as sending once (RFC 9110 9.2.2)
};

/// Returns every registered method, the common ones first.
std::span<const RegisteredMethod> registered_methods();

/// Returns true if the registry calls the method idempotent: GET HEAD OPTIONS TRACE PUT DELETE, PROPFIND,
/// REPORT, MKCOL and others. Case-sensitive, as methods are. Returns false for a method that is not
/// registered.
bool is_idempotent_method(std::string_view method);
/// Returns true if the registry calls the method safe: GET HEAD OPTIONS TRACE, QUERY, PROPFIND and others.
/// Repeating such a request has no effect.
bool is_safe_method(std::string_view method);

}  // namespace reprise::policy
