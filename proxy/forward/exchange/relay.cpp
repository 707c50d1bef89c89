#include "proxy/forward/exchange/relay.hpp"

#include <optional>

#include "proxy/forward/request/continuable.hpp"
#include "proxy/forward/tunnel/splice.hpp"
#include "proxy/http/grpc/message_boundary.hpp"
#include "proxy/http/grpc/status.hpp"
#include "proxy/http/http1/rewrite.hpp"
#include "proxy/net/io/failure.hpp"

namespace reprise::forward {

using http::Framing;
using policy::Cause;

namespace {

/// Gives the client the pieces of a body, and counts the bytes of the body.
class BodyWriter {
 public:
  BodyWriter(net::ClientEnd& client, const http::ResponseHead& head, bool is_call)
      : client_(client), head_(head), is_call_(is_call) {}

  void add(net::BodyStep step, std::string_view piece, const net::BodySource& body) {
    if (step == net::BodyStep::piece) add_piece(piece);
    if (step == net::BodyStep::end) add_end(body.trailers());
  }

  void add_piece(std::string_view piece) {
    bytes_ += piece.size();
    if (is_call_) boundary_.add(piece);
    client_.add_piece(piece);
  }

  void add_end(std::string_view trailers) {
    std::string forwarded;
    if (!trailers.empty()) http::append_trailers(trailers, head_.fields, forwarded);
    client_.add_end(forwarded);
    if (is_call_) grpc_ = trailers.empty() ? http::status_of(head_.fields) : http::status_of(trailers);
  }

  /// Returns how the relay ended.
  Relayed relayed(Relayed::End end) const {
    Relayed result{end, Cause::truncated, bytes_, head_sent_};
    if (end == Relayed::End::complete) result.grpc = grpc_;
    return result;
  }
  /// Returns how the relay ended if the body broke with `step`.
  Relayed broke(net::BodyStep step, const net::BodySource& body) const {
    Relayed result = broken(step, bytes_);
    result.head_sent = head_sent_;
    result.reset_code = body.reset_code();
    result.between_messages = is_call_ && !result.reset_code && boundary_.between_messages();
    return result;
  }

  /// Counts body bytes that this object did not send, because splice(2) sent them.
  void count(std::uint64_t bytes) { bytes_ += bytes; }
  /// Notes that the kernel has accepted what was added so far.
  void note_sent() { head_sent_ = true; }

 private:
  net::ClientEnd& client_;
  const http::ResponseHead& head_;
  bool is_call_;
  http::MessageBoundary boundary_;
  std::optional<policy::GrpcStatus> grpc_;
  std::uint64_t bytes_ = 0;
  bool head_sent_ = false;
};

Task<Relayed> relay_kept(const Outgoing& out, net::ClientEnd& client, std::string_view head,
                         Response& response) {
  BodyWriter writer(client, response.head, out.route.is_call);
  client.add_head(head, sends_chunked(out.in, response));
  if (!response.body.empty()) writer.add_piece(response.body);
  writer.add_end(response.trailers);
  const ErrorCode error = co_await client.send_rest(out.route.policy->idle_timeout);
  if (!error) writer.note_sent();
  co_return writer.relayed(error ? Relayed::End::client_gone : Relayed::End::complete);
}

}  // namespace

Relayed broken(net::BodyStep step, std::uint64_t bytes) {
  return {.end = Relayed::End::broken,
          .cause = net::cause_of(step),
          .bytes = bytes,
          .stalled = step == net::BodyStep::stalled};
}

Task<void> until_all_is_acknowledged(net::ClientEnd& client, net::Pause& pause) {
  constexpr Duration patience = std::chrono::seconds(30);
  std::uint64_t last = 0;
  Instant moved = net::Tick::now();
  for (;;) {
    const std::uint64_t left = client.unacknowledged();
    const Instant now = net::Tick::now();
    if (left != last) moved = now;
    if (left == 0 || now - moved >= patience) break;
    last = left;
    co_await pause.until(now + net::Tick::granule);
  }
}

void count_limit(telemetry::Metrics& metrics, const Relayed& relayed, net::ClientEnd& client) {
  if (relayed.stalled) metrics.count_limit(telemetry::LimitHit::response_idle);
  if (relayed.end == Relayed::End::client_gone && client.take_limit_hit())
    metrics.count_limit(telemetry::LimitHit::response_unread);
}

bool sends_chunked(const Incoming& in, const Response& response) {
  const Framing::Kind kind = response.head.framing.kind;
  return in.head.minor_version > 0 && (kind == Framing::Kind::chunked || kind == Framing::Kind::until_close);
}

bool is_framed_for_client(const Incoming& in, const Response& response) {
  const Framing::Kind kind = response.head.framing.kind;
  return sends_chunked(in, response) || kind == Framing::Kind::length || kind == Framing::Kind::none;
}

Task<Relayed> relay(net::Pool& pool, const Outgoing& out, net::ClientEnd& client, std::string_view head,
                    Response& response) {
  if (response.kept) co_return co_await relay_kept(out, client, head, response);
  const Duration idle = out.route.policy->idle_timeout;
  BodyWriter writer(client, response.head, out.route.is_call);
  net::BodySource& reader = response.begin_body();
  if (!head.empty()) client.add_head(head, sends_chunked(out.in, response));
  if (!response.body.empty()) writer.add_piece(response.body);
  net::BodyStep step = response.broken.value_or(net::BodyStep::piece);
  std::string_view piece;
  std::optional<Duration> patience;  // computed only if the next bytes of the body have to be waited for
  for (;;) {
    while (step == net::BodyStep::piece && client.has_room() && reader.take_at_hand(step, piece)) {
      writer.add(step, piece, reader);
    }
    ErrorCode error;
    if (!client.send_now(error)) error = co_await client.send_rest(idle);
    if (error) co_return writer.relayed(Relayed::End::client_gone);
    writer.note_sent();
    give_back(response.body);
    if (step == net::BodyStep::end) break;
    if (step != net::BodyStep::piece) {
      const Relayed result = writer.broke(step, reader);
      // The reader of a stalled body is kept, because the body may continue.
      if (step != net::BodyStep::stalled) reader.drop();
      co_return result;
    }
    if (!patience) patience = stall_limit_of(out, response);
    const net::BodySource::OnSocket rest = reader.rest_on_socket();
    net::Stream* const to = client.socket();
    if (SplicePipe pipe = may_splice(rest, to) ? SplicePipe::lend() : SplicePipe(); pipe) {
      const SpliceLimits limits{.read = *patience, .write = idle};
      const Spliced spliced = co_await splice(std::move(pipe), *rest.socket, *to, rest.bytes, limits);
      reader.skip(spliced.bytes);
      writer.count(spliced.bytes);
      if (spliced.unsent) co_return writer.relayed(Relayed::End::client_gone);
      step = spliced.step;
      continue;
    }
    step = co_await reader.next(*patience, piece);
    writer.add(step, piece, reader);
  }
  finish_connection(pool, response, reader.has_surplus());
  co_return writer.relayed(Relayed::End::complete);
}

}  // namespace reprise::forward
