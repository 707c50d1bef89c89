#include "proxy/forward/exchange/listen_to_client.hpp"

#include "proxy/forward/tunnel/first_words.hpp"
#include "proxy/forward/tunnel/interception.hpp"
#include "proxy/net/tls/client_tls.hpp"
#include "proxy/policy/match/ascii.hpp"
#include "proxy/telemetry/log/json_text.hpp"

namespace reprise::forward {

using http::FirstWords;
using telemetry::Interception;
using telemetry::LimitHit;

namespace {

// One word for each, here and in the metrics: `more` is none.
constexpr bool same_words() {
  constexpr auto& ours = policy::names_of<FirstWords>;
  constexpr auto& counted = policy::names_of<telemetry::Protocol>;
  for (std::size_t i = 0; i < counted.size(); ++i) {
    if (ours[i + 1] != counted[i]) return false;
  }
  return ours.size() == counted.size() + 1;
}
static_assert(same_words());

telemetry::Protocol protocol_of(FirstWords words) {
  return static_cast<telemetry::Protocol>(static_cast<std::size_t>(words) - 1);
}

/// What the client was told that it talks to; empty where it told nobody.
std::string_view authority_of(const Request& request) {
  return request.entrance == Entrance::transparent ? std::string_view() : request.view.host;
}

/// True if the client's ClientHello decides whether TLS is intercepted or, for a redirected connection, which
/// route applies.
bool is_judged_by_hello(const Request& request) {
  if (request.entrance != Entrance::transparent) return listens_first(request);
  return request.snapshot->client_tls != nullptr || request.snapshot->settings.routes->asks_for_host();
}

// If neither interception nor the route depends on the client's first bytes, an incomplete beginning is
// forwarded after 200 ms at most (row G7).
FirstWordsTime time_for_words(const Worker& worker, const Request& request, bool has_upstream) {
  const Duration brief = worker.shared.first_words_limit;
  const Duration handshake = request.snapshot->settings.timers.handshake;
  return {has_upstream && listens_first(request) ? handshake : brief,
          is_judged_by_hello(request) ? handshake : brief};
}

// Until its ClientHello is whole. Nothing where it did not come.
Task<std::variant<Hello, ClientHello>> read_hello(Request& request, net::Stream& client, Duration limit) {
  net::Buffer& early = request.early;
  auto hello = read_client_hello(early.view());
  client.limit_read(limit);
  while (std::holds_alternative<Hello>(hello) && std::get<Hello>(hello) == Hello::more) {
    if (early.room_left() == 0) early.grow();
    const auto [error, bytes] = co_await client.read_some(early.room());
    if (error) break;
    early.commit(bytes);
    hello = read_client_hello(early.view());
  }
  client.unlimit_read();
  co_return hello;
}

Task<void> ask_for_whom(Worker& worker, Request& request, net::Stream& client) {
  static const std::vector<policy::HostPattern> none;
  const net::ClientTls* const tls = request.snapshot->client_tls.get();
  const bool judged = is_judged_by_hello(request);
  const Duration handshake = request.snapshot->settings.timers.handshake;
  auto hello = co_await read_hello(request, client, judged ? handshake : worker.shared.first_words_limit);
  const bool late = client.take_limit_hit();
  if (auto* const whole = std::get_if<ClientHello>(&hello)) {
    request.interception =
        judge_interception(authority_of(request), *whole, tls == nullptr ? none : tls->hosts());
    request.server_name = std::move(whole->server_name);
  } else if (std::get<Hello>(hello) == Hello::other || !judged) {
    request.interception =
        authority_of(request).empty() ? Interception::unlisted : Interception::no_server_name;
  } else {
    request.interception = late ? Interception::handshake_timeout : Interception::handshake_failed;
    if (late) worker.shared.metrics.count_limit(LimitHit::handshake);
  }
  if (tls == nullptr && request.interception == Interception::unlisted) co_return;
  const bool goes_on = request.interception == Interception::intercepted;
  if (!goes_on) worker.shared.metrics.count_interception(*request.interception);
  if (!goes_on && request.interception != Interception::unlisted)
    log_interception(worker, request, *request.interception);
}

std::string_view sentence(Interception outcome) {
  switch (outcome) {
    case Interception::intercepted: return "its requests are served one by one";
    case Interception::unlisted: return "tunnelled blind: intercept.hosts does not list it";
    case Interception::no_server_name:
      return "tunnelled blind: its ClientHello names no server (SNI), or cannot be read";
    case Interception::other_server_name:
      return "tunnelled blind: its ClientHello names another server (SNI) than the host that it asked for";
    case Interception::no_http_1_1:
      return "tunnelled blind: the client offers HTTP/2 alone (ALPN), and only HTTP/1.1 is served";
    case Interception::handshake_failed: return "closed: the handshake failed";
    case Interception::handshake_timeout: return "closed: no end of the handshake within timers.handshake";
    case Interception::no_certificate: return "closed: no certificate can be made for that name";
  }
  return {};
}

}  // namespace

bool listens_first(const Request& request) {
  if (request.entrance == Entrance::transparent) return true;
  const net::ClientTls* const tls = request.snapshot->client_tls.get();
  return tls != nullptr && request.policy->mode != policy::Mode::off &&
         lists_host(tls->hosts(), request.view.host);
}

Task<void> listen_to_client(Worker& worker, Request& request, net::Stream& client, net::Stream* upstream) {
  const http::Connect tunnel{request.view.host, request.view.port, request.head.target};
  const bool asks = listens_first(request);
  request.words = co_await first_words(client, request.early, upstream, tunnel,
                                       request.snapshot->settings.limits.target_bytes,
                                       time_for_words(worker, request, upstream != nullptr));
  if (request.words == FirstWords::silence && upstream == nullptr && asks) {
    request.words = FirstWords::more;
    co_return;
  }
  worker.shared.metrics.count_stream(protocol_of(request.words));
  if (request.words == FirstWords::tls && asks) co_await ask_for_whom(worker, request, client);
}

bool is_over(const Request& request) {
  return request.interception == Interception::handshake_failed ||
         request.interception == Interception::handshake_timeout;
}

void log_interception(Worker& worker, const Request& request, Interception outcome, std::string_view words) {
  if (worker.shared.log.settings().level < config::LogLevel::info) return;
  std::string text("TLS to ");
  const std::string_view name = request.server_name;
  text.append(telemetry::clipped(request.view.host));
  if (!name.empty() && !policy::equals_ignoring_case(name, request.view.host))
    text.append(" (").append(telemetry::clipped(name)).append(")");
  text.append(" from ").append(request.client).append(" at ").append(request.listener);
  text.append(": ").append(telemetry::word(outcome)).append(": ").append(sentence(outcome));
  if (!words.empty()) text.append(": ").append(telemetry::clipped(words));
  worker.shared.log.message(config::LogLevel::info, text, net::Clock::wall_nanoseconds());
}

}  // namespace reprise::forward
