#include "config/keys/proxy_variables.hpp"

#include <algorithm>
#include <array>

#include "config/keys/address.hpp"
#include "config/keys/parent.hpp"
#include "proxy/policy/match/ascii.hpp"

namespace reprise::config {
namespace {

constexpr std::string_view between_hosts = ", \t\r\n";

bool names_same_proxy(const Parent& one, const Parent& other) {
  return one.host == other.host && one.port == other.port && one.authorization == other.authorization &&
         one.tls.has_value() == other.tls.has_value();
}

void add(std::string text, std::vector<std::string>& texts) {
  if (std::find(texts.begin(), texts.end(), text) == texts.end()) texts.push_back(std::move(text));
}

void add_exceptions(std::string_view entry, std::vector<std::string>& texts) {
  // Clears the address bits after the prefix of a network, because other clients that read no_proxy ignore
  // these bits.
  auto network = parse_network(entry);
  if (!network && !network.suggestion.empty()) network = parse_network(network.suggestion);
  if (network) return add(*network.value, texts);
  if (auto suffix = parse_exception(entry); suffix && entry.starts_with("*."))
    return add(std::move(*suffix.value), texts);
  auto name = parse_exception(entry.starts_with('.') ? entry.substr(1) : entry);
  if (!name || name.value->starts_with("*.")) return;
  add(*name.value, texts);
  add("*." + *name.value, texts);
}

}  // namespace

std::string completed_proxy_url(std::string_view value) {
  std::string url(value);
  if (url.find("://") == std::string::npos) url.insert(0, http_scheme);
  if (url.ends_with('/')) url.pop_back();
  const std::size_t start = url.find("://") + 3;
  const std::size_t at = url.rfind('@');
  const std::string host = url.substr(at == std::string::npos ? start : at + 1);
  const bool has_port = host.rfind(':') != std::string::npos && !host.ends_with(']');
  if (host.empty() || has_port) return url;
  return url + (policy::lower(url).starts_with(https_scheme) ? ":443" : ":80");
}

std::vector<std::string> exceptions_of(std::string_view no_proxy) {
  std::vector<std::string> texts;
  for (std::size_t from = 0; (from = no_proxy.find_first_not_of(between_hosts, from)) != std::string::npos;) {
    const std::size_t end = std::min(no_proxy.find_first_of(between_hosts, from), no_proxy.size());
    add_exceptions(no_proxy.substr(from, end - from), texts);
    from = end;
  }
  return texts;
}

NamedParent parent_of_variables(
    const std::function<std::optional<std::string>(std::string_view name)>& lookup) {
  std::string direct;
  for (const std::string_view name : {"no_proxy", "NO_PROXY"}) {
    const std::string value = lookup(name).value_or("");
    if (value == "*") return {};
    direct.append(value).append(",");
  }
  NamedParent named;
  std::string_view first;
  for (const std::string_view name : {"http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"}) {
    const std::string value = lookup(name).value_or("");
    if (value.empty()) continue;
    if (value.find("://") != std::string::npos && policy::lower(value).starts_with("socks"))
      return {std::nullopt, std::string(name) +
                                " names a SOCKS proxy: write an HTTP proxy in the key parent of a "
                                "configuration file (-c FILE), use --parent URL, or unset the variable"};
    auto parsed = parse_parent(completed_proxy_url(value));
    if (!parsed) return {std::nullopt, std::string(name) + " " + parsed.reason};
    if (named.parent && !names_same_proxy(*named.parent, *parsed.value))
      return {std::nullopt,
              std::string(first) + " and " + std::string(name) +
                  " name different proxies: write one of them in the key parent of a configuration file (-c "
                  "FILE), use --parent URL, or unset one of the variables"};
    if (!named.parent) first = name;
    named.parent = std::move(parsed.value);
  }
  if (named.parent) named.parent->except = exceptions_of(direct);
  return named;
}

}  // namespace reprise::config
