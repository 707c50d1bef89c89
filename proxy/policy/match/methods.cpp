#include "proxy/policy/match/methods.hpp"

#include <algorithm>
#include <array>

namespace reprise::policy {
namespace {

constexpr std::array methods = std::to_array<RegisteredMethod>({
    {"GET", true, true},
    {"POST", false, false},
    {"PUT", false, true},
    {"HEAD", true, true},
    {"DELETE", false, true},
    {"PATCH", false, false},
    {"OPTIONS", true, true},
    {"CONNECT", false, false},
    {"TRACE", true, true},
    {"QUERY", true, true},
    {"PROPFIND", true, true},
    {"REPORT", true, true},
    {"SEARCH", true, true},
    {"ACL", false, true},
    {"BASELINE-CONTROL", false, true},
    {"BIND", false, true},
    {"CHECKIN", false, true},
    {"CHECKOUT", false, true},
    {"COPY", false, true},
    {"LABEL", false, true},
    {"LINK", false, true},
    {"LOCK", false, false},
    {"MERGE", false, true},
    {"MKACTIVITY", false, true},
    {"MKCALENDAR", false, true},
    {"MKCOL", false, true},
    {"MKREDIRECTREF", false, true},
    {"MKWORKSPACE", false, true},
    {"MOVE", false, true},
    {"ORDERPATCH", false, true},
    {"PRI", true, true},
    {"PROPPATCH", false, true},
    {"REBIND", false, true},
    {"UNBIND", false, true},
    {"UNCHECKOUT", false, true},
    {"UNLINK", false, true},
    {"UNLOCK", false, true},
    {"UPDATE", false, true},
    {"UPDATEREDIRECTREF", false, true},
    {"VERSION-CONTROL", false, true},
});

const RegisteredMethod* find(std::string_view name) {
  const auto found =
      std::find_if(methods.begin(), methods.end(), [name](const auto& each) { return each.name == name; });
  return found == methods.end() ? nullptr : &*found;
}

}  // namespace

std::span<const RegisteredMethod> registered_methods() { return methods; }

bool is_idempotent_method(std::string_view method) {
  const RegisteredMethod* const registered = find(method);
  return registered != nullptr && registered->idempotent;
}

bool is_safe_method(std::string_view method) {
  const RegisteredMethod* const registered = find(method);
  return registered != nullptr && registered->safe;
}

}  // namespace reprise::policy
