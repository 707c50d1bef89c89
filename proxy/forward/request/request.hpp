// Everything that belongs to one request while it is in flight; lent by the worker, so that a connection
// allocates once.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "proxy/forward/replay/request_body.hpp"
#include "proxy/forward/request/response.hpp"
#include "proxy/http/message/first_bytes.hpp"
#include "proxy/http/message/gateway_view.hpp"
#include "proxy/http/message/hop_by_hop.hpp"
#include "proxy/http/message/intake.hpp"
#include "proxy/net/upstream/pin.hpp"
#include "proxy/net/upstream/snapshot.hpp"
#include "proxy/policy/decision/exchange.hpp"
#include "proxy/policy/decision/route_policy.hpp"

namespace reprise::forward {

/// How a request came, and what it asks for.
enum class RequestKind : std::uint8_t {
  forward,        ///< to a forward listener, in absolute-form
  gateway,        ///< to a gateway listener
  connect,        ///< CONNECT: a tunnel
  inside_tunnel,  ///< plain HTTP that came in a CONNECT, or through SOCKS
  intercepted,    ///< out of TLS that was ended here
  redirected,     ///< plain HTTP that a transparent listener took over
};

/// How a stream came that may be anything: how its client is told that it stands, or that it does not.
enum class Entrance : std::uint8_t { connect, socks, transparent };

/// Where an attempt's head gets our Via.
enum class AttemptVia : std::uint8_t {
  none,
  in_the_head,    ///< `outgoing` has it
  over_loopback,  ///< if the attempt's connection goes to a loopback address
};

/// How far a stream has come with its client.
enum class TunnelProgress : std::uint8_t {
  asked,       ///< it waits to be told
  opened,      ///< it has been told that the tunnel stands, or need not be
  hello_held,  ///< what it said since is one ClientHello, in `early`, which may be sent again
};

struct Request {
  static constexpr bool never_closed = false;

  std::string_view client;    ///< `address:port` that it came from; the session's text
  std::string_view listener;  ///< `forward 127.0.0.1:3128`, where it came in; the listener's text
  http::RequestHead head;     ///< views into the session's buffer
  policy::RequestView view;   ///< what routes and rules look at
  std::shared_ptr<const net::Snapshot> snapshot;  ///< the configuration that it began under
  std::size_t route = 0;
  const policy::RoutePolicy* policy = nullptr;
  policy::Facts facts;
  /// What has been found out about the request as it leaves, so that no further question reads it again.
  struct Judged {
    std::optional<http::NamedByConnection> named;
    std::optional<policy::Idempotency> by_body;  ///< once the body is held whole
  };
  mutable Judged judged;
  std::shared_ptr<net::Upstream> upstream;
  /// The head that every attempt sends; without its blank line where the route wants the attempt header.
  std::string outgoing;
  std::string response_head;    ///< what goes to the client before the body
  std::string response_fields;  ///< our own lines in it
  RequestBody body;
  net::Buffer early;  ///< what the client sent behind a head that opened a tunnel
  http::FirstWords words = http::FirstWords::more;  ///< of a tunnel that is open
  /// Of one of TLS, where it was asked: whom it wants, and what becomes of it.
  std::string server_name;
  std::optional<telemetry::Interception> interception;
  std::uint64_t hello_bytes = 0;            ///< of its ClientHello that the upstream has answered
  Response live;                            ///< of the last attempt
  Response copy;                            ///< of a second copy beside the first attempt
  Response kept;                            ///< what the client gets if nothing better follows
  std::optional<policy::Exchange> machine;  ///< that decides on it; from its first attempt on
  policy::Instant started{};
  std::uint64_t number = 0;  ///< its story's; 0: none is kept
  RequestKind kind = RequestKind::forward;
  Entrance entrance = Entrance::connect;          ///< of a stream
  TunnelProgress tunnel = TunnelProgress::asked;  ///< of the same
  AttemptVia via = AttemptVia::in_the_head;
  bool upgrade = false;        ///< the client asks for another protocol (RFC 9110 7.8)
  bool continue_sent = false;  ///< the client has had its 100
  bool resuming = false;       ///< the head is with the client: attempts ask for the rest of its body
  net::Freshness freshness = net::Freshness::any;  ///< of what it may go out on
  net::RecentConnections recent{};                 ///< what its last attempt went out on
  std::vector<policy::UpstreamAddress> tried;      ///< where its attempts have gone, each once
  /// It is authenticated by the connection that it goes out on: no other will do (row F2).
  bool bound = false;
  /// Whether nobody is let in any more where it came in; the session's, which may hear of that meanwhile.
  const bool* listener_closed = &never_closed;
  net::Pin* pin = nullptr;  ///< the session's; null for CONNECT
  /// How a gateway's client sees redirects and cookies; absent: as the upstream sent them.
  std::optional<http::GatewayView> gateway;
  std::string gateway_authority;  ///< its text, unless the client's Host names the gateway

  /// What was tried; empty where nothing was.
  const policy::Ledger& ledger() const;
  bool is_connect() const { return kind == RequestKind::connect; }
  /// `outgoing` has no blank line at its end: each attempt adds lines of its own, and that line.
  bool ends_head_by_attempt() const { return policy->attempt_header || via == AttemptVia::over_loopback; }
  /// True for a stream whose requests are served one by one.
  bool goes_inside() const {
    return words == http::FirstWords::http || interception == telemetry::Interception::intercepted;
  }
  /// Resets every member, so that nothing of this request reaches the next one. Keeps storage.
  void clear();
};

/// Whether the request's bytes go to the parent proxy itself, in absolute-form; else to the upstream,
/// directly or inside a tunnel.
bool is_for_parent(const Request&);
/// What becomes of its `Upgrade: h2c`, by where it came in.
http::ToH2c to_h2c(const Request&);
/// Whose connections carry the request: the parent's, or the upstream's.
const std::shared_ptr<net::Upstream>& carrier_of(const Request&);

/// True if the body does not fit into `replay.memory`, or has no length that could tell.
bool is_too_long_for_memory(const Request&);
/// When the signature that the client gave it runs out; absent: it has none, or one without an end.
std::optional<Instant> end_of_signature(const Request&);
/// What may be held of the body: nothing of a request that no rule could ever retry, unless its upstream has
/// to be told its length.
/// A longer body is rejected with 413.
std::uint64_t longest_body(const Request&, const config::Limits& process);
HoldLimits hold_limits(const Request&, const config::Limits& process);

/// What the request's rule says of it as it leaves (row L11): its outgoing head must be written, but for a
/// CONNECT, of which none leaves. `body` is null while the body is not wholly held.
policy::Idempotency judge_leaving(const Request&, const policy::JsonBody* body);
/// True if the request's rule calls it idempotent, judged on what is held of the body now (clause R33c).
policy::Idempotency judge_now(const Request&);
/// True where it may be sent once more without repeating an effect, judged the same way.
bool may_be_repeated(const Request&);

}  // namespace reprise::forward
