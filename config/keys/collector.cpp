#include "config/keys/collector.hpp"

#include <algorithm>

#include "config/keys/address.hpp"
#include "proxy/policy/match/ascii.hpp"

namespace reprise::config {
namespace {

constexpr std::uint16_t standard_port = 4318;
constexpr std::uint16_t grpc_port = 4317;
constexpr std::uint16_t https_port = 443;
constexpr std::size_t longest_path = 1024;

bool is_plain_path(std::string_view path) {
  const auto plain = [](char c) { return c > ' ' && c < 0x7f && c != '?' && c != '#'; };
  return path.size() <= longest_path && std::all_of(path.begin(), path.end(), plain);
}

bool is_at(const Collector& collector, const Endpoint& listener) {
  const bool local = policy::lower(collector.host) == "localhost";
  if (collector.port != listener.port) return false;
  return local ? is_loopback(listener) : collide({collector.host, collector.port}, listener);
}

}  // namespace

Parsed<Collector> parse_collector(std::string_view text, std::uint16_t http_port) {
  const std::string form =
      "is not a collector URL: write http://collector:4318, or https://collector.example.com/path";
  const bool tls = policy::lower(text.substr(0, https_scheme.size())) == https_scheme;
  const std::string_view scheme = tls ? https_scheme : http_scheme;
  if (policy::lower(text.substr(0, scheme.size())) != scheme) {
    const bool bare = text.find("://") == std::string_view::npos && text.find('/') == std::string_view::npos;
    const auto where = bare ? parse_authority(text, form) : Parsed<Endpoint>{};
    return refuse<Collector>(
        form, where && where.value->port != 0 ? std::string(http_scheme).append(text) : std::string());
  }
  const std::string_view rest = text.substr(scheme.size());
  const std::size_t slash = std::min(rest.find('/'), rest.size());
  const std::string_view authority = rest.substr(0, slash);
  if (authority.find('@') != std::string_view::npos)
    return refuse<Collector>("has a user name: set credentials in OTEL_EXPORTER_OTLP_HEADERS");
  const auto where = parse_authority(authority, form);
  if (!where) return refuse<Collector>(where.reason);
  Collector collector;
  collector.host = where.value->address;
  collector.port = where.value->port;
  collector.tls = tls;
  const std::string_view path = rest.substr(slash);
  if (!is_plain_path(path))
    return refuse<Collector>(
        "has a query, a fragment, a space or more than 1024 bytes after the host: only a path may follow");
  if (collector.port == 0) collector.port = tls ? https_port : http_port;
  if (collector.port == 0) {
    collector.port = standard_port;
    return refuse<Collector>("has no port: OTLP over HTTP usually uses 4318",
                             std::string(http_scheme).append(authority).append(":4318").append(path));
  }
  if (path.size() > 1) collector.path = std::string(path);
  return {std::move(collector), {}, {}};
}

std::string collector_text(const Collector& collector) {
  return std::string(collector.tls ? https_scheme : http_scheme)
      .append(endpoint_text({collector.host, collector.port}))
      .append(collector.path);
}

bool is_own_listener(const Collector& collector, const Settings& settings) {
  return (!settings.admin.bind.is_off() && is_at(collector, settings.admin.bind)) ||
         std::any_of(settings.listeners.begin(), settings.listeners.end(),
                     [&](const Listener& listener) { return is_at(collector, listener.bind); });
}

bool has_grpc_port(const Collector& collector) { return collector.port == grpc_port; }

void check_collector(const Node& root, const Settings& settings, Report& report) {
  const Node* const section = root.find("trace");
  const Node* const otlp = section == nullptr ? nullptr : section->find("otlp");
  if (otlp == nullptr || !settings.trace.otlp) return;
  const Collector& collector = *settings.trace.otlp;
  if (is_own_listener(collector, settings))
    report.error(otlp->line, otlp->column, "trace.otlp",
                 "is a listener of this proxy: every span sent there would create another span");
  if (has_grpc_port(collector))
    report.warning(
        otlp->line, otlp->column, "trace.otlp",
        "has port 4317, which collectors use for OTLP over gRPC: use 4318, the port for OTLP over HTTP");
}

}  // namespace reprise::config
