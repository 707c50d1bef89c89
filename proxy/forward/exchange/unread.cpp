#include "proxy/forward/exchange/unread.hpp"

#include <boost/asio/ip/address.hpp>

#include "proxy/http/message/origin.hpp"
#include "proxy/policy/match/ascii.hpp"
#include "proxy/telemetry/log/json_text.hpp"

namespace reprise::forward {

using http::DetectedProtocol;
using telemetry::Carried;
using telemetry::Interception;

namespace {

constexpr std::uint16_t https_port = 443;

bool is_address(std::string_view host) {
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  ErrorCode error;
  asio::ip::make_address(host, error);
  return !error;
}

}  // namespace

Carried carried_by(const TunnelRequest& tunnel) {
  if (tunnel.carries_requests()) return Carried::requests;
  if (tunnel.is_over()) return Carried::bytes;
  // A silent tunnel to port 443 counts as TLS too: a slow client may begin its handshake after the time limit
  // for the first bytes.
  const bool late = tunnel.detected == DetectedProtocol::silence && tunnel.port == https_port;
  return tunnel.detected == DetectedProtocol::tls || late ? Carried::tls : Carried::bytes;
}

bool can_intercept(const TunnelRequest& tunnel) {
  const bool listed = tunnel.tls && tunnel.tls->interception != Interception::unlisted;
  return !listed && !is_address(tunnel.host);
}

void count_unread(Worker& worker, const TunnelRequest& tunnel) {
  const std::string_view host = policy::without_last_dot(tunnel.host);
  const std::string name = http::authority_text(host, tunnel.port);
  const bool helps = can_intercept(tunnel);
  const bool first = worker.shared.metrics.count_unread(name, helps ? host : std::string_view());
  if (!first || worker.shared.log.settings().level < config::LogLevel::info) return;
  std::string text("HTTPS to ");
  text.append(telemetry::clipped(name)).append(" is tunnelled, so its requests cannot be read or retried. ");
  if (helps)
    text.append("List ")
        .append(telemetry::clipped(host))
        .append(" in intercept.hosts (exec: --intercept), or let");
  else
    text.append("Let");
  text.append(
      " the client use http:// with tls: originate in the route. This message is logged once per host");
  worker.shared.log.message(config::LogLevel::info, text, net::Clock::wall_nanoseconds());
}

}  // namespace reprise::forward
