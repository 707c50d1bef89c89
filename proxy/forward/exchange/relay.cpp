#include "proxy/forward/exchange/relay.hpp"

#include <array>
#include <optional>

#include "proxy/forward/request/continuable.hpp"
#include "proxy/forward/tunnel/splice.hpp"
#include "proxy/http/http1/rewrite.hpp"
#include "proxy/net/io/failure.hpp"

namespace reprise::forward {

using http::Framing;
using policy::Cause;

namespace {

/// Frames pieces of the body for the client, and gathers as many pieces as one send can take.
class BodyWriter {
 public:
  BodyWriter(bool chunked, const http::ResponseHead& head) : chunked_(chunked), head_(head) {}

  bool has_room() const { return lines_used_ < size_lines_.size(); }
  void add_head(std::string_view head) { pieces_.add(head); }

  void add(net::BodyStep step, std::string_view piece, std::string_view trailers) {
    if (step == net::BodyStep::piece) add_piece(piece);
    if (step == net::BodyStep::end) add_end(trailers);
  }

  void add_piece(std::string_view piece) {
    bytes_ += piece.size();
    std::string& line = size_lines_[lines_used_++];
    if (chunked_) {
      line.clear();
      http::write_chunk_size(piece.size(), line);
      pieces_.add(line);
    }
    pieces_.add(piece);
    if (chunked_) pieces_.add("\r\n");
  }

  void add_end(std::string_view trailers) {
    if (!chunked_) return;
    std::string forwarded;
    http::append_trailers(trailers, head_.fields, forwarded);
    last_.clear();
    http::write_last_chunk(forwarded, last_);
    pieces_.add(last_);
  }

  /// Sends as many bytes as the kernel takes at once. Returns false if `send_rest` must send the remaining
  /// bytes.
  bool send_now(net::Stream& client, ErrorCode& error) {
    error = client.write_now(pieces_);
    if (!error && !pieces_.empty()) return false;
    clear();
    return true;
  }

  Task<ErrorCode> send_rest(net::Stream& client, Duration idle) {
    const ErrorCode error = co_await client.write_all(pieces_, idle);
    clear();
    co_return error;
  }

  std::uint64_t bytes() const { return bytes_; }
  /// Counts body bytes that this object did not send, because splice(2) sent them.
  void count(std::uint64_t bytes) { bytes_ += bytes; }

 private:
  void clear() {
    pieces_ = net::Gather();
    lines_used_ = 0;
  }

  const bool chunked_;
  const http::ResponseHead& head_;
  net::Gather pieces_;
  std::array<std::string, 2> size_lines_;
  std::size_t lines_used_ = 0;
  std::string last_;
  std::uint64_t bytes_ = 0;
};

Task<Relayed> relay_kept(const Outgoing& out, net::Stream& client, std::string_view head,
                         Response& response) {
  BodyWriter writer(sends_chunked(out.in, response), response.head);
  writer.add_head(head);
  if (!response.body.empty()) writer.add_piece(response.body);
  writer.add_end(response.trailers);
  const ErrorCode error = co_await writer.send_rest(client, out.route.policy->idle_timeout);
  co_return Relayed{error ? Relayed::End::client_gone : Relayed::End::complete, Cause::truncated,
                    writer.bytes()};
}

}  // namespace

Relayed broken(net::BodyStep step, std::uint64_t bytes) {
  return {Relayed::End::broken, net::cause_of(step), bytes, step == net::BodyStep::stalled};
}

Task<void> until_all_is_acknowledged(net::Stream& client, net::Pause& pause) {
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

void count_limit(telemetry::Metrics& metrics, const Relayed& relayed, net::Stream& client) {
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

Task<Relayed> relay(net::Pool& pool, const Outgoing& out, net::Stream& client, std::string_view head,
                    Response& response) {
  if (response.kept) co_return co_await relay_kept(out, client, head, response);
  const Duration idle = out.route.policy->idle_timeout;
  BodyWriter writer(sends_chunked(out.in, response), response.head);
  net::BodySource& reader = response.begin_body();
  writer.add_head(head);
  if (!response.body.empty()) writer.add_piece(response.body);
  net::BodyStep step = response.broken.value_or(net::BodyStep::piece);
  std::string_view piece;
  std::optional<Duration> patience;  // computed only if the next bytes of the body have to be waited for
  for (;;) {
    while (step == net::BodyStep::piece && writer.has_room() && reader.take_at_hand(step, piece)) {
      writer.add(step, piece, reader.trailers());
    }
    ErrorCode error;
    if (!writer.send_now(client, error)) error = co_await writer.send_rest(client, idle);
    if (error) co_return Relayed{Relayed::End::client_gone, Cause::truncated, writer.bytes()};
    give_back(response.body);
    if (step == net::BodyStep::end) break;
    if (step != net::BodyStep::piece) {
      // The reader of a stalled body is kept, because the body may continue.
      if (step != net::BodyStep::stalled) reader.drop();
      co_return broken(step, writer.bytes());
    }
    if (!patience) patience = stall_limit_of(out, response);
    const net::BodySource::OnSocket rest = reader.rest_on_socket();
    if (SplicePipe pipe = may_splice(rest, client) ? SplicePipe::lend() : SplicePipe(); pipe) {
      const SpliceLimits limits{.read = *patience, .write = idle};
      const Spliced spliced = co_await splice(std::move(pipe), *rest.socket, client, rest.bytes, limits);
      reader.skip(spliced.bytes);
      writer.count(spliced.bytes);
      if (spliced.unsent) co_return Relayed{Relayed::End::client_gone, Cause::truncated, writer.bytes()};
      step = spliced.step;
      continue;
    }
    step = co_await reader.next(*patience, piece);
    writer.add(step, piece, reader.trailers());
  }
  finish_connection(pool, response, reader.has_surplus());
  co_return Relayed{Relayed::End::complete, Cause::truncated, writer.bytes()};
}

}  // namespace reprise::forward
