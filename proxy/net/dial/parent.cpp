#include "proxy/net/dial/parent.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>

#include "proxy/http/http1/parent.hpp"
#include "proxy/http/http1/parse.hpp"
#include "proxy/http/message/interims.hpp"
#include "proxy/net/dial/dial.hpp"
#include "proxy/net/dial/secure.hpp"
#include "proxy/net/ends/read_head.hpp"
#include "proxy/net/io/failure.hpp"
#include "proxy/net/upstream/warning.hpp"

namespace reprise::net {

using policy::Cause;
using policy::Failed;
using policy::Stage;

namespace {

void warn(Dialer& dialer, Upstream& parent, std::string_view what) {
  warn_of(dialer.log, parent, std::string("the parent proxy ").append(what));
}

// Returns the cause to report for a failure to reach the parent proxy. A cause for which only this host or
// the configuration is responsible stays unchanged.
Cause cause_of_parent(Cause cause) {
  switch (cause) {
    case Cause::dns_error:
    case Cause::refused:
    case Cause::unreachable:
    case Cause::reset:
    case Cause::closed:
    case Cause::tls_protocol_error: return Cause::parent_unreachable;
    case Cause::dns_timeout:
    case Cause::connect_timeout: return Cause::parent_timeout;
    case Cause::no_local_port:
    case Cause::no_descriptor:
    case Cause::address_denied:
    case Cause::address_is_self:
    case Cause::tls_certificate_error:
    case Cause::tls_alert_received:
    case Cause::parent_unreachable:
    case Cause::parent_timeout:
    case Cause::parent_refused:
    case Cause::keepalive_lost:
    case Cause::unacknowledged:
    case Cause::not_http2:
    case Cause::stream_refused:
    case Cause::stream_reset:
    case Cause::goaway:
    case Cause::http_1_1_required:
    case Cause::attempt_timeout:
    case Cause::response_timeout:
    case Cause::malformed_response:
    case Cause::header_too_large:
    case Cause::truncated:
    case Cause::cancelled:
    case Cause::replay_lost: break;
  }
  return cause;
}

/// The reason why the parent opened no tunnel.
struct Refusal {
  std::string words;  ///< text for the log
  Cause cause = Cause::parent_refused;
  int status = 0;  ///< status of the parent's response; 0 if there was no response
};

/// Reads the parent's response to the CONNECT.
class TunnelResponse {
 public:
  TunnelResponse(const http::HeadLimits& limits, Stream& stream, Buffer& buffer)
      : limits_(limits), stream_(stream), buffer_(buffer) {}

  /// Returns the reason if the parent opens no tunnel; no value once the tunnel is established.
  Task<std::optional<Refusal>> read() {
    std::optional<std::string> said;
    const auto take = [&] {
      do said = take_head();
      while (said && *said == more);
      return said.has_value();
    };
    if (co_await read_head(stream_, buffer_, head_, take)) {
      if (!stream_.take_limit_hit()) co_return Refusal{"closed the connection during a CONNECT"};
      co_return Refusal{"did not respond to CONNECT in time", Cause::parent_timeout};
    }
    if (said->empty()) co_return std::nullopt;
    co_return Refusal{std::move(*said), Cause::parent_refused, status_};
  }

 private:
  static constexpr std::string_view more = "1xx";

  // Takes one response head from the buffer. Returns no value if the head is incomplete, an empty text if the
  // tunnel is open, and `more` for an interim response. Otherwise returns why there is no tunnel.
  std::optional<std::string> take_head() {
    if (buffer_.empty()) return std::nullopt;
    const http::Parsed parsed = http::parse_response(buffer_.view(), limits_, "CONNECT", head_);
    if (std::holds_alternative<http::Rejection>(parsed)) return "sent a response to CONNECT that is not HTTP";
    if (std::get<http::Progress>(parsed) == http::Progress::partial) return std::nullopt;
    const bool interim = head_.status < 200 && head_.status != 101;
    if (interim && !interims_.admit(head_.bytes)) return "sent too many interim responses to CONNECT";
    buffer_.consume(head_.bytes);
    if (interim) return std::string(more);
    if (head_.status >= 200 && head_.status < 300) return std::string();
    status_ = head_.status;
    return "refused CONNECT with status " + std::to_string(head_.status);
  }

  const http::HeadLimits limits_;
  Stream& stream_;
  Buffer& buffer_;
  http::ResponseHead head_;
  http::Interims interims_;
  int status_ = 0;
};

Task<std::optional<Failed>> ask_for_tunnel(Dialer& dialer, const ParentRoute& route, Stream& stream,
                                           const ConnectTime& time, AttemptCancel& cancel, Buffer& early) {
  const Upstream& upstream = route.upstream;
  std::string head;
  http::write_connect(route.cause, upstream.host, upstream.port,
                      dialer.snapshot.settings.parent->authorization, dialer.pseudonym, head);
  Gather pieces;
  pieces.add(head);
  AttemptCancel::Target target(cancel, stream);
  stream.limit_read_until(time.end_of_step(Tick::now()));
  std::optional<Refusal> refusal = Refusal{"closed the connection during a CONNECT"};
  TunnelResponse reader(dialer.snapshot.head_limits(), stream, early);
  if (!co_await stream.write_all(pieces, time.each())) refusal = co_await reader.read();
  stream.unlimit_read();
  target.end();
  if (!refusal) {
    // The bytes sent so far belong to the CONNECT and not to the request.
    stream.reset_sent();
    co_return std::nullopt;
  }
  early.clear();
  if (cancel.stopped()) co_return Failed{Stage::connect, Cause::cancelled};
  warn(dialer, *upstream.parent, refusal->words);
  co_return Failed{Stage::connect, refusal->cause, refusal->status};
}

}  // namespace

AddressVerdict judge_parent_route(const AddressFilter& filter, const ParentRoute& route) {
  const Upstream& upstream = route.upstream;
  const AddressVerdict verdict = filter.judge_unresolved(upstream.host, upstream.port);
  if (verdict != AddressVerdict::allowed || route.asked_host == upstream.host) return verdict;
  return filter.judge_unresolved(std::string(route.asked_host), upstream.port);
}

Task<Dialled> dial_through_parent(Dialer& dialer, const ParentRoute& route, ConnectTime& time,
                                  AttemptCancel& cancel, Buffer& early) {
  Upstream& upstream = route.upstream;
  const AddressVerdict verdict = judge_parent_route(*dialer.snapshot.filter, route);
  if (verdict == AddressVerdict::denied) co_return Failed{Stage::connect, Cause::address_denied};
  if (verdict == AddressVerdict::self) co_return Failed{Stage::connect, Cause::address_is_self};
  const config::Parent& parent = *dialer.snapshot.settings.parent;
  Dialled dialled = co_await dial(dialer, parent.host, parent.port, time, cancel);
  if (auto* plain = std::get_if<std::unique_ptr<Stream>>(&dialled); plain != nullptr && upstream.parent->tls)
    dialled = co_await secure(dialer, *upstream.parent, std::move(*plain), time, cancel, true);
  if (const auto* failed = std::get_if<Failed>(&dialled)) {
    const Cause cause = cause_of_parent(failed->cause);
    if (cause == failed->cause) co_return *failed;
    warn(dialer, *upstream.parent, "cannot be reached: " + std::string(policy::word(failed->cause)));
    co_return Failed{Stage::connect, cause};
  }
  if (route.to_parent) co_return dialled;
  Stream& stream = *std::get<std::unique_ptr<Stream>>(dialled);
  if (const auto failed = co_await ask_for_tunnel(dialer, route, stream, time, cancel, early))
    co_return *failed;
  co_return dialled;
}

}  // namespace reprise::net
