#include "config/intercept.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <string>

#include "config/keys/patterns.hpp"
#include "config/reader.hpp"

namespace reprise::config {
namespace {

// Returns true for an IP address in any notation (row H2). A host counts as an address if its last label is a
// number, because no host name ends in a number.
bool is_address(const std::string& host) {
  std::array<unsigned char, sizeof(in6_addr)> ignored{};
  const std::string last = host.substr(host.rfind('.') + 1);
  return host.starts_with('[') || ::inet_pton(AF_INET6, host.c_str(), ignored.data()) == 1 ||
         last.starts_with("0x") ||
         (!last.empty() &&
          std::all_of(last.begin(), last.end(), [](char c) { return c >= '0' && c <= '9'; }));
}

}  // namespace

Parsed<policy::HostPattern> parse_intercepted(std::string_view text) {
  if (text == "*")
    return {std::nullopt, "means every host: write host names, or a suffix such as *.example.com", {}};
  auto pattern = parse_host_pattern(text);
  if (!pattern) return pattern;
  const std::string& host = pattern.value->text;
  const bool is_suffix = host.starts_with("*.");
  if (is_address(is_suffix ? host.substr(2) : host))
    return {std::nullopt, "is an address, but the local authority signs only names: write the host name", {}};
  if (is_suffix && host.find('.', 2) == std::string::npos)
    return {
        std::nullopt, "means every host under a top-level domain: write a suffix such as *.example.com", {}};
  return pattern;
}

namespace {

// Checks one host. Skips an item that is not a host pattern, because such an item was already reported.
void check_host(const Node& item, const std::string& path, Report& report) {
  if (item.kind != Node::Kind::scalar || item.broken || !parse_host_pattern(item.text)) return;
  if (const auto parsed = parse_intercepted(item.text); !parsed)
    report.error(item.line, item.column, path, shown(item) + " " + parsed.reason);
}

}  // namespace

void check_intercept(const Node& root, Report& report) {
  const Node* const section = root.find("intercept");
  if (section == nullptr || section->kind != Node::Kind::mapping) return;
  const Node* const hosts = section->find("hosts");
  const bool listed = hosts != nullptr && hosts->kind == Node::Kind::list;
  if (hosts == nullptr || (listed && hosts->items.empty())) {
    const Node& at = hosts == nullptr ? *section : *hosts;
    report.error(at.line, at.column, "intercept.hosts",
                 "has no host: write hosts: [api.example.com], or remove intercept");
  }
  for (std::size_t i = 0; listed && i < hosts->items.size() && !report.full(); ++i)
    check_host(hosts->items[i], "intercept.hosts[" + std::to_string(i) + "]", report);
  for (const char* const file : {"ca.certificate", "ca.key"}) {
    if (locate(*section, file) != nullptr) continue;
    report.error(section->line, section->column, std::string("intercept.") + file,
                 "is missing: write ca: {certificate: /run/reprise/ca/ca.pem, key: /run/reprise/ca/ca.key}, "
                 "and create both files with reprise ca init");
  }
}

}  // namespace reprise::config
