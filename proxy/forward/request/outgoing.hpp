// A request as it leaves: what each attempt sends, where attempts have gone, and whether it may be repeated.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "proxy/forward/replay/request_body.hpp"
#include "proxy/forward/request/incoming.hpp"
#include "proxy/forward/request/route.hpp"
#include "proxy/http/message/hop_by_hop.hpp"
#include "proxy/net/upstream/pin.hpp"

namespace reprise::forward {

/// Where an attempt's head gets our Via.
enum class AttemptVia : std::uint8_t {
  none,
  in_the_head,    ///< `Outgoing::head` has it
  over_loopback,  ///< if the attempt's connection goes to a loopback address
};

/// Attempts work with this and with nothing else of the request.
class Outgoing {
 public:
  /// Both must outlive it.
  Outgoing(const Incoming& came, const Route& chosen) : in(came), route(chosen) {}

  const Incoming& in;
  const Route& route;
  /// The head that every attempt sends; without its blank line if `ends_head_by_attempt`.
  std::string head;
  RequestBody body;
  AttemptVia via = AttemptVia::in_the_head;
  bool continue_sent = false;  ///< the client has had its 100
  bool resuming = false;       ///< the head is with the client: attempts ask for the rest of its body
  /// The request is authenticated by the connection that it goes out on: no other will do (row F2).
  bool bound = false;
  net::Freshness freshness = net::Freshness::any;  ///< of the connections that may carry it
  net::RecentConnections recent{};                 ///< those of the last attempts
  std::vector<policy::UpstreamAddress> tried;      ///< where attempts have gone, each once
  net::Pin* pin = nullptr;                         ///< the session's; null for a byte stream

  /// `head` has no blank line at its end: each attempt adds lines of its own, and that line.
  bool ends_head_by_attempt() const {
    return route.policy->attempt_header || via == AttemptVia::over_loopback;
  }
  /// True if the client waits for a 100 before it sends its body.
  bool waits_for_continue() const { return !continue_sent && in.head.expects_continue() && !body.complete(); }
  /// True if the client waits for a 100 that an upstream known as HTTP/1.0 will never send (row C1).
  bool waits_in_vain() const { return waits_for_continue() && route.carrier()->speaks_1_0(); }

  /// What the route's rule says of the request as it leaves (row L11): of the fields in `head`, if there is
  /// one. `held` is null while the body is not wholly held.
  policy::Idempotency judge(const policy::JsonBody* held) const;
  /// The same, judged on what is held of the body now (clause R33c).
  policy::Idempotency judge_now() const;
  /// True if it may be sent once more without repeating an effect, judged the same way.
  bool may_be_repeated() const;

  /// An attempt has gone there, or tried to: the next one goes elsewhere if it can (row N1).
  void note_address(const policy::UpstreamAddress&);
  /// Attempt `number` goes out on that connection, which the next one must not. `copy`: beside another
  /// (hedge).
  void note_connection(unsigned number, bool copy, const net::UpstreamConnection&);
  /// True if the upstream's name has an address that no attempt has gone to.
  bool has_untried_address() const;

  void clear();

 private:
  // What has been found out, so that no further question reads the head or the body again.
  mutable std::optional<http::NamedByConnection> named_;
  mutable std::optional<policy::Idempotency> by_body_;  // once the body is held whole
};

/// True if the body does not fit into `replay.memory`, or has no length that could tell.
bool is_too_long_for_memory(const http::RequestHead&, const policy::RoutePolicy&);
/// When the signature that the client gave the request runs out; absent: it has none, or one without an end.
std::optional<Instant> end_of_signature(const Incoming&);
/// The longest body that is accepted, in bytes; a longer one is rejected with 413.
std::uint64_t longest_body(const policy::RoutePolicy&, const config::Limits& process);
/// How much of the body may be held: nothing of a request that no rule could ever retry, unless its upstream
/// has to be told its length.
HoldLimits hold_limits(const Incoming&, const Route&);

}  // namespace reprise::forward
