// The upstream's end of an attempt over one stream of an HTTP/2 connection.
#pragma once

#include <memory>
#include <string>

#include "proxy/net/ends/upstream_end.hpp"
#include "proxy/net/streams/http2_stream.hpp"
#include "proxy/net/streams/http2_upstream_connection.hpp"

namespace reprise::net {

/// Carries one request. `open` sends the first bytes of the request. The destructor ends the stream, and
/// sends CANCEL if the request or the response is not complete (row M66).
class Http2UpstreamStream final : public UpstreamEnd, public Http2Stream {
 public:
  /// `scheme`: `http` or `https`.
  Http2UpstreamStream(std::shared_ptr<Http2UpstreamConnection> connection, std::string_view scheme);

  const Http2UpstreamConnection& connection() const { return *connection_; }
  /// Lets `open` send a request for a WebSocket as an extended CONNECT. A 2xx arrives as a 101; the stream is
  /// then a tunnel (row M12). Precondition: the upstream permits it, and the request has no body.
  void ask_websocket() { is_websocket_ = true; }

  /// Fails with Http2Error::no_room, and sends nothing, if the connection accepts no further stream.
  ErrorCode open(const RequestOpening&) override;
  bool all_sent() const override { return is_all_sent(); }
  Task<ErrorCode> send_rest(Duration idle) override { return wait_until_sent(idle); }
  Task<ErrorCode> send_piece(std::string_view piece, Duration idle) override;
  Task<ErrorCode> send_end(std::string_view trailers, Duration idle) override;
  void end_sending() override { stop_sending(); }
  /// Does nothing: the limit of unacknowledged bytes belongs to the connection.
  void limit_unacknowledged(Duration) override {}
  void begin_pauses(Duration) override {}
  void end_pauses() override {}
  bool may_have_sent() const override { return has_sent(); }
  std::uint64_t sent_bytes() const override { return bytes_sent(); }
  Acknowledged acknowledged(std::uint64_t head_bytes) override;
  /// Returns how many bytes of all streams the upstream's host has not acknowledged. One system call.
  std::uint64_t unacknowledged() { return connection_->unacknowledged(); }

  /// Queues bytes, which must stay valid until `all_sent`, and sends what can be sent without waiting.
  /// Returns why they cannot be sent.
  [[nodiscard]] ErrorCode send_now(std::string_view bytes);
  using Http2Stream::end_send_wait;
  /// Ends the own side of a tunnel.
  void finish_sending();

  ReadTask read_some(asio::mutable_buffer) override;
  void limit_read(Duration after) override { set_read_limit(policy::end_of(Tick::now(), after)); }
  void limit_read_until(Instant due) override { set_read_limit(due); }
  void end_limit() override { remove_read_limit(); }
  bool take_limit_hit() override { return take_read_limit_hit(); }
  void end_read() override { Http2Stream::end_read(); }
  Task<ErrorCode> wait_readable() override;
  Unread unread() override;
  Task<bool> wait_for_end() override;
  TlsRefusal refusal() const override { return {}; }
  bool seems_dead(Duration since) override { return connection_->seems_dead(since); }
  void cancel() override { cancel_all(); }
  asio::any_io_executor executor() override { return connection_->executor(); }

 private:
  std::shared_ptr<Http2UpstreamConnection> connection_;
  std::string_view scheme_;
  std::string head_;
  http::FieldBlock fields_;
  bool is_websocket_ = false;   ///< the request is an extended CONNECT
  bool request_ended_ = false;  ///< the end of the request is queued or sent, or `is_websocket_`
};

}  // namespace reprise::net
