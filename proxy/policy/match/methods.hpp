// The methods of the IANA registry, and what it says of repeating them.
#pragma once

#include <span>
#include <string_view>

namespace reprise::policy {

/// One row of the IANA HTTP Method Registry (RFC 9110 16.1.1).
struct RegisteredMethod {
  std::string_view name;
  bool safe;        ///< asks for no effect (RFC 9110 9.2.1)
  bool idempotent;  ///< once and many times have the same effect (RFC 9110 9.2.2)
};

/// Every registered method, the common ones first.
std::span<const RegisteredMethod> registered_methods();

/// True for GET HEAD OPTIONS TRACE PUT DELETE, PROPFIND, REPORT, MKCOL and the others that the registry calls
/// idempotent. Case-sensitive, as methods are; a method that is not registered is not idempotent.
bool is_idempotent_method(std::string_view method);
/// True for GET HEAD OPTIONS TRACE, QUERY, PROPFIND and the others that the registry calls safe: they have no
/// effect that could be repeated.
bool is_safe_method(std::string_view method);

}  // namespace reprise::policy
