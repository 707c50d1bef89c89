#include "proxy/net/parent.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>

#include "proxy/http/parent.hpp"
#include "proxy/net/dial.hpp"
#include "proxy/net/failure.hpp"
#include "proxy/net/interim.hpp"
#include "proxy/net/record.hpp"

namespace reprise::net {

using policy::Cause;
using policy::Failed;
using policy::Stage;

namespace {

void tell(Loop& loop, Upstream& parent, std::string_view what) {
  warn_of(loop, parent, std::string("the parent proxy ").append(what));
}

// What only this host or the configuration is to blame for keeps its cause.
Cause cause_of_parent(Cause cause) {
  switch (cause) {
    case Cause::dns_error:
    case Cause::refused:
    case Cause::unreachable:
    case Cause::reset: return Cause::parent_unreachable;
    case Cause::dns_timeout:
    case Cause::connect_timeout: return Cause::parent_timeout;
    default: return cause;
  }
}

/// No tunnel.
struct Refusal {
  std::string words;  ///< for the log
  Cause cause = Cause::parent_refused;
  int status = 0;  ///< what it answered, where it did
};

/// The answer to a CONNECT of ours.
class TunnelAnswer {
 public:
  TunnelAnswer(Loop& loop, Stream& stream, Answer& answer) : loop_(loop), stream_(stream), answer_(answer) {}

  /// Nothing once the tunnel stands.
  Task<std::optional<Refusal>> read() {
    Buffer& buffer = answer_.buffer;
    for (;;) {
      if (buffer.room_left() == 0) buffer.grow();
      const auto [error, bytes] = co_await stream_.read_some(buffer.room());
      if (error && stream_.take_limit_hit())
        co_return Refusal{"did not answer CONNECT in time", Cause::parent_timeout};
      if (error) co_return Refusal{"broke off a CONNECT"};
      buffer.commit(bytes);
      while (auto said = take_head()) {
        if (said->empty()) co_return std::nullopt;
        if (*said != more) co_return Refusal{std::move(*said), Cause::parent_refused, status_};
      }
    }
  }

 private:
  static constexpr std::string_view more = "1xx";

  // Nothing until a head is whole; an empty text for a tunnel, `more` for an interim answer.
  std::optional<std::string> take_head() {
    if (answer_.buffer.empty()) return std::nullopt;
    const http::ResponseHead& head = answer_.head;
    const http::Parsed parsed =
        http::parse_response(answer_.buffer.view(), loop_.head_limits, "CONNECT", answer_.head);
    if (std::holds_alternative<http::Cause>(parsed)) return "answered CONNECT with what is no HTTP";
    if (std::get<http::Progress>(parsed) == http::Progress::partial) return std::nullopt;
    const bool interim = head.status < 200 && head.status != 101;
    if (interim && !interims_.admit(head.bytes)) return "answered CONNECT with too many interim answers";
    answer_.buffer.consume(head.bytes);
    if (interim) return std::string(more);
    if (head.status >= 200 && head.status < 300) return std::string();
    status_ = head.status;
    return "refused a tunnel with status " + std::to_string(head.status);
  }

  Loop& loop_;
  Stream& stream_;
  Answer& answer_;
  Interims interims_;
  int status_ = 0;
};

Task<std::optional<Failed>> ask_for_tunnel(Loop& loop, const Request& request, Stream& stream,
                                           const ConnectTime& time, Stop& stop, Answer& answer) {
  const Upstream& upstream = *request.upstream;
  std::string head;
  http::write_connect(request.head, upstream.host, upstream.port, loop.shared.settings.parent->authorization,
                      loop.shared.pseudonym, head);
  Gather pieces;
  pieces.add(head);
  stop.aim_at(&stream);
  stream.limit_read_until(time.end_of_step(Tick::now()));
  std::optional<Refusal> refusal = Refusal{"broke off a CONNECT"};
  TunnelAnswer reader(loop, stream, answer);
  if (!co_await stream.write_all(pieces, time.each())) refusal = co_await reader.read();
  stream.unlimit_read();
  stop.aim_at(nullptr);
  if (!refusal) {
    // Nothing of the request itself was sent.
    stream.forget_sent();
    co_return std::nullopt;
  }
  answer.buffer.clear();
  if (stop.stopped()) co_return Failed{Stage::connect, Cause::cancelled};
  tell(loop, *upstream.parent, refusal->words);
  co_return Failed{Stage::connect, refusal->cause, refusal->status};
}

}  // namespace

Door judge_unresolved(const Doors& doors, const std::string& host, std::uint16_t port) {
  ErrorCode not_a_literal;
  const auto literal = asio::ip::make_address(host, not_a_literal);
  if (!not_a_literal) return doors.judge({literal, port});
  // 2852039166, 0xa9fea9fe, 0251.0376.0251.0376: what a resolver takes for an address (inet_aton(3)).
  const std::string bare = host.ends_with('.') ? host.substr(0, host.size() - 1) : host;
  in_addr address{};
  if (::inet_aton(bare.c_str(), &address) == 0) return Door::open;
  return doors.judge({asio::ip::address_v4(ntohl(address.s_addr)), port});
}

Task<Dialled> dial_through_parent(Loop& loop, const Request& request, ConnectTime& time, Stop& stop,
                                  Answer& answer) {
  Upstream& upstream = *request.upstream;
  const Door door = judge_unresolved(loop.shared.doors, upstream.host, upstream.port);
  if (door == Door::denied) co_return Failed{Stage::connect, Cause::address_denied};
  if (door == Door::self) co_return Failed{Stage::connect, Cause::address_is_self};
  const config::Parent& parent = *loop.shared.settings.parent;
  Dialled dialled = co_await dial(loop, parent.host, parent.port, time, stop);
  if (const auto* failed = std::get_if<Failed>(&dialled)) {
    const Cause cause = cause_of_parent(failed->cause);
    if (cause == failed->cause) co_return *failed;
    tell(loop, *upstream.parent, "cannot be reached: " + std::string(policy::word(failed->cause)));
    co_return Failed{Stage::connect, cause};
  }
  if (is_for_parent(request)) co_return dialled;
  Stream& stream = *std::get<std::unique_ptr<Stream>>(dialled);
  if (const auto failed = co_await ask_for_tunnel(loop, request, stream, time, stop, answer))
    co_return *failed;
  co_return dialled;
}

}  // namespace reprise::net
