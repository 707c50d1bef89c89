#include "proxy/forward/exchange/sniff_stream.hpp"

#include "proxy/forward/tunnel/interception.hpp"
#include "proxy/forward/tunnel/read_opening.hpp"
#include "proxy/forward/tunnel/sniff_protocol.hpp"
#include "proxy/net/tls/client_tls.hpp"
#include "proxy/policy/match/ascii.hpp"
#include "proxy/telemetry/log/json_text.hpp"

namespace reprise::forward {

using http::DetectedProtocol;
using telemetry::Interception;
using telemetry::LimitHit;

namespace {

// Returns true if the metrics use the same protocol names as DetectedProtocol, in the same order. The first
// name of DetectedProtocol, `more`, is not in the metrics.
constexpr bool has_same_names() {
  constexpr auto& ours = policy::names_of<DetectedProtocol>;
  constexpr auto& counted = policy::names_of<telemetry::Protocol>;
  for (std::size_t i = 0; i < counted.size(); ++i) {
    if (ours[i + 1] != counted[i]) return false;
  }
  return ours.size() == counted.size() + 1;
}
static_assert(has_same_names());

telemetry::Protocol protocol_of(DetectedProtocol detected) {
  return static_cast<telemetry::Protocol>(static_cast<std::size_t>(detected) - 1);
}

/// Returns the host that the client named; empty if the client named none.
std::string_view named_host(const TunnelRequest& tunnel) {
  return tunnel.protocol->names_host() ? std::string_view(tunnel.host) : std::string_view();
}

/// Returns true if the client's ClientHello decides whether TLS is intercepted or, for a redirected
/// connection, which route applies.
bool is_judged_by_hello(const Route& route, const TunnelRequest& tunnel) {
  if (tunnel.protocol->names_host()) return sniffs_before_dial(route, tunnel);
  return route.snapshot->client_tls != nullptr || route.snapshot->settings.routes->asks_for_host();
}

// Returns the time limits for the client's first bytes. An incomplete request line or ClientHello is
// forwarded after at most 200 ms, unless interception or the choice of the route depends on it (row G7).
SniffLimits sniff_limits_of(const Worker& worker, const Route& route, const TunnelRequest& tunnel,
                            bool has_upstream) {
  const Duration brief = worker.shared.sniff_limit;
  const Duration handshake = route.snapshot->settings.timers.handshake;
  return {has_upstream && sniffs_before_dial(route, tunnel) ? handshake : brief,
          is_judged_by_hello(route, tunnel) ? handshake : brief};
}

// Reads until the ClientHello is complete. Returns `more` if the client did not complete it.
Task<std::variant<Hello, ClientHello>> read_hello(net::Buffer& early, net::Stream& client, Duration limit) {
  client.limit_read(limit);
  auto hello = co_await read_opening(client, early, read_client_hello, [](const auto& parsed) {
    const auto* const incomplete = std::get_if<Hello>(&parsed);
    return incomplete != nullptr && *incomplete == Hello::more;
  });
  client.unlimit_read();
  co_return hello;
}

Task<void> inspect_client_hello(Worker& worker, const Request& request, TunnelRequest& tunnel,
                                net::Stream& client) {
  static const std::vector<policy::HostPattern> none;
  const net::Snapshot& snapshot = *request.route.snapshot;
  const net::ClientTls* const tls = snapshot.client_tls.get();
  const bool judged = is_judged_by_hello(request.route, tunnel);
  const Duration handshake = snapshot.settings.timers.handshake;
  auto hello = co_await read_hello(tunnel.early, client, judged ? handshake : worker.shared.sniff_limit);
  const bool late = client.take_limit_hit();
  if (auto* const whole = std::get_if<ClientHello>(&hello)) {
    const Interception outcome = judge_interception(named_host(tunnel), *whole,
                                                    tls == nullptr ? none : tls->hosts(), tunnel.reads_http2);
    tunnel.tls = SniffedTls{std::move(whole->server_name), outcome};
  } else if (std::get<Hello>(hello) == Hello::other || !judged) {
    tunnel.tls =
        SniffedTls{{}, named_host(tunnel).empty() ? Interception::unlisted : Interception::no_server_name};
  } else {
    tunnel.tls = SniffedTls{{}, late ? Interception::handshake_timeout : Interception::handshake_failed};
    if (late) worker.shared.metrics.count_limit(LimitHit::handshake);
  }
  const Interception outcome = tunnel.tls->interception;
  if (tls == nullptr && outcome == Interception::unlisted) co_return;
  const bool goes_on = outcome == Interception::intercepted;
  if (!goes_on) worker.shared.metrics.count_interception(outcome);
  if (!goes_on && outcome != Interception::unlisted) log_interception(worker, request.in, tunnel, outcome);
}

std::string_view sentence(Interception outcome) {
  switch (outcome) {
    case Interception::intercepted: return "intercepted: its requests are read and retried";
    case Interception::unlisted:
      return "tunnelled without interception: intercept.hosts does not list the host";
    case Interception::no_server_name:
      return "tunnelled without interception: the ClientHello has no server name (SNI), or is malformed";
    case Interception::other_server_name:
      return "tunnelled without interception: the server name (SNI) in the ClientHello differs from the "
             "requested host";
    case Interception::no_http_1_1:
      return "tunnelled without interception: the client offers no version of HTTP (ALPN) that this listener "
             "accepts";
    case Interception::handshake_failed: return "closed: the TLS handshake failed";
    case Interception::handshake_timeout:
      return "closed: the TLS handshake did not finish within timers.handshake";
    case Interception::no_certificate: return "closed: no certificate could be created for that server name";
  }
  return {};
}

}  // namespace

bool sniffs_before_dial(const Route& route, const TunnelRequest& tunnel) {
  if (!tunnel.protocol->names_host()) return true;
  const net::ClientTls* const tls = route.snapshot->client_tls.get();
  return tls != nullptr && route.policy->mode != policy::Mode::off && lists_host(tls->hosts(), tunnel.host);
}

Task<void> sniff_stream(Worker& worker, const Request& request, TunnelRequest& tunnel, net::Stream& client,
                        net::Stream* upstream) {
  const Route& route = request.route;
  const http::Connect origin{tunnel.host, tunnel.port, tunnel.authority};
  const bool asks = sniffs_before_dial(route, tunnel);
  tunnel.detected = co_await sniff_protocol(client, tunnel.early, upstream, origin,
                                            route.snapshot->settings.limits.target_bytes,
                                            sniff_limits_of(worker, route, tunnel, upstream != nullptr));
  if (tunnel.detected == DetectedProtocol::silence && upstream == nullptr && asks) {
    tunnel.detected = DetectedProtocol::more;
    co_return;
  }
  worker.shared.metrics.count_stream(protocol_of(tunnel.detected));
  if (tunnel.detected == DetectedProtocol::tls && asks)
    co_await inspect_client_hello(worker, request, tunnel, client);
}

void log_interception(Worker& worker, const Incoming& in, const TunnelRequest& tunnel, Interception outcome,
                      std::string_view words) {
  if (worker.shared.log.settings().level < config::LogLevel::info) return;
  std::string text("TLS to ");
  const std::string_view name = tunnel.tls ? std::string_view(tunnel.tls->server_name) : std::string_view();
  text.append(telemetry::clipped(tunnel.host));
  if (!name.empty() && !policy::equals_ignoring_case(name, tunnel.host))
    text.append(" (").append(telemetry::clipped(name)).append(")");
  text.append(" from ").append(in.client).append(" at ").append(in.listener);
  text.append(": ").append(telemetry::word(outcome)).append(": ").append(sentence(outcome));
  if (!words.empty()) text.append(": ").append(telemetry::clipped(words));
  worker.shared.log.message(config::LogLevel::info, text, net::Clock::wall_nanoseconds());
}

}  // namespace reprise::forward
