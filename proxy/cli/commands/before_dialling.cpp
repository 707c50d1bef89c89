#include "proxy/cli/commands/before_dialling.hpp"

#include <algorithm>
#include <vector>

#include "config/keys/keys.hpp"
#include "config/keys/parent.hpp"
#include "proxy/http/message/origin.hpp"
#include "proxy/net/upstream/address_filter.hpp"
#include "proxy/net/upstream/parent_exceptions.hpp"
#include "proxy/policy/match/methods.hpp"

namespace reprise::cli {
namespace {

using policy::Cause;
using policy::Failed;
using policy::Stage;

std::vector<tcp::endpoint> own_listeners(const config::Settings& settings) {
  std::vector<tcp::endpoint> own;
  const auto add = [&own](const config::Endpoint& bind) {
    own.emplace_back(asio::ip::make_address(bind.address), bind.port);
  };
  for (const config::Listener& listener : settings.listeners) add(listener.bind);
  if (!settings.admin.bind.is_off()) add(settings.admin.bind);
  return own;
}

}  // namespace

std::optional<NeverDialled> never_dialled(const config::Settings& settings, std::string_view host,
                                          std::uint16_t port) {
  const net::AddressFilter filter(settings.security.deny, own_listeners(settings));
  const std::string where = http::authority_text(host, port);
  switch (filter.judge_unresolved(std::string(host), port)) {
    case net::AddressVerdict::allowed: break;
    case net::AddressVerdict::denied:
      return NeverDialled{Failed{Stage::connect, Cause::address_denied}, where + " is under security.deny"};
    case net::AddressVerdict::self:
      return NeverDialled{Failed{Stage::connect, Cause::address_is_self},
                          where + " is a listener of this proxy, and security.deny lists self"};
  }
  return std::nullopt;
}

std::string way_to(const config::Settings& settings, std::string_view host) {
  if (!settings.parent) return {};
  const std::string parent = "the parent proxy " + config::parent_text(*settings.parent);
  if (!net::ParentExceptions(settings.parent->except).contains(std::string(host)))
    return "This request goes through " + parent + ".";
  return "This request goes to " + std::string(host) + " without " + parent +
         ": parent.except lists the host.";
}

std::string warning_of_method(std::string_view method) {
  std::vector<std::string_view> known;
  for (const policy::RegisteredMethod& registered : policy::registered_methods())
    known.push_back(registered.name);
  if (std::find(known.begin(), known.end(), method) != known.end()) return {};
  std::string text = "\"" + std::string(method) + "\" is not a registered method";
  const std::string_view meant = config::nearest(method, known);
  if (!meant.empty()) text.append(" (did you mean ").append(meant).append("?)");
  return text + ": reprise forwards it unchanged, and `by_method` does not count it as idempotent.";
}

}  // namespace reprise::cli
