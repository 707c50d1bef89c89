// The upstream's end of an attempt over one stream of an HTTP/2 connection, and the body of its response.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "proxy/net/ends/body_source.hpp"
#include "proxy/net/ends/upstream_end.hpp"
#include "proxy/net/io/pause.hpp"
#include "proxy/net/streams/http2_connection.hpp"

namespace reprise::net {

/// Carries one request. `open` sends the first bytes of the request. The destructor ends the stream, and
/// sends CANCEL if the request or the response is not complete (row M66).
class Http2Stream final : public UpstreamEnd, public BodySource {
 public:
  /// `scheme`: `http` or `https`.
  Http2Stream(std::shared_ptr<Http2Connection> connection, std::string_view scheme);
  ~Http2Stream();
  Http2Stream(const Http2Stream&) = delete;
  Http2Stream& operator=(const Http2Stream&) = delete;

  const Http2Connection& connection() const { return *connection_; }
  /// Returns how the stream failed; nothing if it has not.
  std::optional<http::Http2Failure> failure() const;

  /// Fails with Http2Error::no_room, and sends nothing, if the connection accepts no further stream.
  ErrorCode open(const RequestOpening&) override;
  bool all_sent() const override;
  Task<ErrorCode> send_rest(Duration idle) override;
  Task<ErrorCode> send_piece(std::string_view piece, Duration idle) override;
  Task<ErrorCode> send_end(std::string_view trailers, Duration idle) override;
  void end_sending() override;
  /// Does nothing: the limit of unacknowledged bytes belongs to the connection.
  void limit_unacknowledged(Duration) override {}
  void begin_pauses(Duration) override {}
  void end_pauses() override {}
  bool may_have_sent() const override;
  std::uint64_t sent_bytes() const override;
  std::uint64_t unacknowledged() override;

  ReadTask read_some(asio::mutable_buffer) override;
  void limit_read(Duration after) override;
  void limit_read_until(Instant due) override;
  void end_limit() override;
  bool take_limit_hit() override { return std::exchange(limit_hit_, false) || send_limit_hit_; }
  void end_read() override;
  Task<ErrorCode> wait_readable() override;
  Unread unread() override;
  Task<bool> wait_for_end() override;
  TlsRefusal refusal() const override { return {}; }
  bool seems_dead(Duration since) override;
  void cancel() override;
  asio::any_io_executor executor() override { return connection_->executor(); }

  bool complete() const override;
  const std::string& trailers() const override;
  http::Rejection malformation() const override;
  bool has_surplus() const override { return false; }
  std::string_view take_whole() override { return {}; }
  bool take_at_hand(BodyStep& step, std::string_view& piece) override;
  Task<BodyStep> next(Duration idle, std::string_view& piece) override;
  Task<BodyStep> next_until(Instant due, std::string_view& piece) override;
  OnSocket rest_on_socket() override { return {}; }
  void skip(std::uint64_t) override {}
  void give_back() override {}
  void end() override {}
  void drop() override;

 private:
  friend class Http2Connection;

  /// Wakes the waiting operations. Called by the connection if the stream has changed or bytes were written.
  void wake();
  const http::Http2Message& response() const { return connection_->wire_.message(id_); }
  http::Http2Message& response() { return connection_->wire_.message(id_); }
  ErrorCode error() const;
  ErrorCode sending_error() const;
  void forget();
  /// Reopens the window by the bytes of the last piece, because the reader has passed them on.
  void give_window_back();
  /// Waits until `holds` returns true or the stream fails, at most until the read limit.
  template <typename Condition>
  Task<ErrorCode> wait_to_read(Condition holds);

  std::shared_ptr<Http2Connection> connection_;
  std::string_view scheme_;
  http::StreamId id_ = 0;         ///< 0: not opened
  std::uint64_t sent_bytes_ = 0;  ///< result of `sent_bytes` after the stream was released
  bool sent_ = false;             ///< result of `may_have_sent` after the stream was released
  std::string head_;
  http::FieldBlock fields_;
  std::string piece_;  ///< the piece that was returned last
  std::string trailers_;
  Pause arrived_;
  Pause taken_;
  std::optional<Instant> read_due_;
  bool limit_hit_ = false;
  bool send_limit_hit_ =
      false;  ///< nothing was accepted for the idle time: the stream cannot be used further
  bool reading_ = false;
  bool read_ended_ = false;     ///< `end_read` was called during a read
  bool request_ended_ = false;  ///< the end of the request is queued or sent
  bool sending_ended_ = false;
  bool cancelled_ = false;
};

}  // namespace reprise::net
