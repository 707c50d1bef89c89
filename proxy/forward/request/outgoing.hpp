// A request as it is sent: what each attempt sends, where attempts went, and whether it may be repeated.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "proxy/forward/replay/request_body.hpp"
#include "proxy/forward/request/incoming.hpp"
#include "proxy/forward/request/route.hpp"
#include "proxy/http/message/hop_by_hop.hpp"
#include "proxy/net/upstream/lease.hpp"
#include "proxy/net/upstream/pin.hpp"

namespace reprise::forward {

/// How an attempt's head gets this proxy's Via line.
enum class AttemptVia : std::uint8_t {
  none,
  in_the_head,    ///< Via is already in `Outgoing::head`
  over_loopback,  ///< added to the head of an attempt if its connection goes to a loopback address
};

/// The only part of a request that attempts use.
class Outgoing {
 public:
  /// Both arguments must outlive this object.
  Outgoing(const Incoming& incoming, const Route& chosen) : in(incoming), route(chosen) {}

  const Incoming& in;
  const Route& route;
  /// The head that every attempt sends. The blank line at its end is missing if `ends_head_by_attempt()`
  /// returns true.
  std::string head;
  RequestBody body;
  AttemptVia via = AttemptVia::in_the_head;
  /// The client's own time limit of a gRPC call, as sent. It is not in `head`: each attempt sends what is
  /// left of it (row M87). Empty if there is none.
  std::string_view grpc_timeout;
  bool continue_sent = false;  ///< the client has received a 100
  /// The client already has the response head; attempts ask for the missing part of the body.
  bool resuming = false;
  /// Another attempt of this request may hold a stream: the other copy of a hedge, or a stalled download.
  bool may_hold_stream = false;
  /// The upstream authenticates the connection and not each request, so no other connection may carry the
  /// request (row F2).
  bool bound = false;
  net::Freshness freshness = net::Freshness::any;  ///< which pooled connections may carry the request
  net::RecentConnections recent{};                 ///< connections of the last attempts
  std::vector<policy::UpstreamAddress> tried;      ///< addresses that attempts went to, each once
  net::Pin* pin = nullptr;                         ///< owned by the session; null for a byte stream

  /// Returns true if `head` has no blank line at its end. Each attempt then appends its own lines and the
  /// blank line.
  bool ends_head_by_attempt() const {
    return route.policy->attempt_header || via == AttemptVia::over_loopback || !grpc_timeout.empty();
  }
  /// Returns true if the client waits for a 100 before it sends its body.
  bool waits_for_continue() const { return !continue_sent && in.head.expects_continue() && !body.complete(); }
  /// Returns true if the client waits for a 100 that this upstream will never send, because it speaks
  /// HTTP/1.0 (row C1).
  bool never_gets_continue() const { return waits_for_continue() && route.carrier()->speaks_1_0(); }

  /// Returns true if an HTTP/2 client asks for a WebSocket: no other request that arrives over HTTP/2 asks
  /// for another protocol.
  bool is_websocket() const { return in.head.over_http2 && in.view.changes_protocol; }
  /// Returns true if the request goes over the version that the upstream speaks. A WebSocket never fails
  /// because of a setting about versions (row M13).
  bool may_use_either() const {
    return is_websocket() || (route.policy->http2 == policy::UseHttp2::automatic && !route.is_call);
  }

  /// Evaluates the route's idempotency rule on the fields in `head` (row L11). `held`: the body; null while
  /// it is not held completely.
  policy::Idempotency judge(const policy::JsonBody* held) const;
  /// Evaluates the idempotency rule on the part of the body that is held now (clause R33c).
  policy::Idempotency judge_now() const;
  /// Returns true if the request may be sent again without repeating an effect. Uses `judge_now`.
  bool may_be_repeated() const;

  /// Records an address that an attempt has used or tried to dial. The next attempt prefers other addresses
  /// (row N1).
  void note_address(const policy::UpstreamAddress&);
  /// Records the connection that carries attempt `number`; the next attempt must not use it. `copy`: the
  /// attempt runs beside another one (hedge).
  void note_connection(unsigned number, bool copy, const net::Lease&);
  /// Returns true if the upstream's name has an address that no attempt went to.
  bool has_untried_address() const;

  void clear();

 private:
  // Caches: the names that Connection lists in `head`, and the result of the idempotency rule for the whole
  // body. Each is computed only once.
  mutable std::optional<http::NamedByConnection> named_;
  mutable std::optional<policy::Idempotency> by_body_;  // set only when the whole body is held
};

/// Returns true if the body does not fit into `replay.memory`, or if its length is not known in advance.
bool is_too_long_for_memory(const http::RequestHead&, const policy::RoutePolicy&);
/// Returns the time at which the client's signature of the request expires. Absent if there is no signature
/// or if it does not expire.
std::optional<Instant> end_of_signature(const Incoming&);
/// Returns the longest body that is accepted, in bytes. A longer body is rejected with 413.
std::uint64_t longest_body(const policy::RoutePolicy&, const config::Limits& process);
/// Returns true if the next attempt is to be sent over HTTP/2. False if the upstream or this client's
/// authentication needs HTTP/1 (rows M29 and M30), for a request of an HTTP/1 client that asks to switch
/// protocols (row M13), and for one that goes to a parent proxy in absolute-form (row M28). False too if
/// either version may be used, and the upstream is known not to speak HTTP/2 in clear text (row M21), or not
/// to permit WebSockets over HTTP/2 (row M12).
bool uses_http2(const Outgoing&);
/// Like `uses_http2`, but false too if the upstream has last chosen HTTP/1 over TLS. It may choose HTTP/2 on
/// the next connection.
bool expects_http2(const Outgoing&);
/// Returns true if the body is held before it is sent, to learn its length: the upstream is expected to read
/// no chunked bodies (row A10).
bool needs_length(const Outgoing&);
/// Returns how much of the body may be held. If no rule can ever allow a retry, the body is held only if the
/// upstream needs its length in advance.
HoldLimits hold_limits(const Outgoing&);

}  // namespace reprise::forward
