// The client's end of an exchange over one stream of an HTTP/2 connection, and the body of its request.
#pragma once

#include <memory>
#include <string>

#include "proxy/net/ends/client_end.hpp"
#include "proxy/net/streams/http2_client_connection.hpp"
#include "proxy/net/streams/http2_stream.hpp"

namespace reprise::net {

/// Carries one response. The destructor ends the stream: with NO_ERROR after a response that was sent
/// whole (RFC 9113 8.1), with CANCEL if the window has held back its end, else as `cut` does.
class Http2ClientStream final : public ClientEnd, public Http2Stream {
 public:
  /// `id`: a stream that has begun.
  Http2ClientStream(std::shared_ptr<Http2ClientConnection> connection, http::StreamId id);
  ~Http2ClientStream() override;

  const Http2ClientConnection& connection() const { return *connection_; }
  /// Takes the request's head as HTTP/1 text. Empty if the head is too large.
  std::string take_head();
  /// Returns the names of the fields that arrived as never-indexed, see RequestHead.
  const std::string& never_indexed() const { return message().never_indexed; }
  /// Returns the protocol that the request asks for in `:protocol`.
  http::ConnectProtocol connect_protocol() const { return message().protocol; }
  /// Returns true if the request with the too large head is a gRPC call.
  bool is_call() const { return message().is_call; }
  /// Returns why the head is too large; nothing if it is not.
  std::optional<http::Rejection> too_large() const { return message().too_large; }

  /// Ends the stream. Resets it with `code` unless both messages are complete.
  void reset(http::Http2Code code) { forget(code); }
  using Http2Stream::end_send_wait;
  /// Queues an interim head. Does nothing if no more can be sent.
  void add_interim(std::string_view head);
  /// Sends everything that was added. Fails if the client has not taken it by then.
  Task<ErrorCode> send_rest_until(Instant due) { return wait_until_sent(policy::no_limit, due); }

  Task<ErrorCode> send_interim(std::string_view head, Duration idle) override;
  void add_head(std::string_view head, bool chunked) override;
  bool has_room() const override { return piece_.empty(); }
  void add_piece(std::string_view piece) override;
  void add_end(std::string_view trailers) override;
  bool send_now(ErrorCode&) override;
  Task<ErrorCode> send_rest(Duration idle) override;
  bool take_limit_hit() override { return take_send_limit_hit(); }
  std::uint64_t unacknowledged() override { return connection_->unacknowledged(); }

  Presence presence() override;
  void break_with(http::Http2Code) override;
  void cut() override;
  Stream* socket() override { return nullptr; }

 private:
  std::shared_ptr<Http2ClientConnection> connection_;
  std::string_view head_;
  std::string_view piece_;
  std::string response_trailers_;
  http::FieldBlock fields_;
  http::Http2Code break_code_ = http::Http2Code::internal_error;
  bool ends_ = false;      ///< `add_end` was called since the last send
  bool complete_ = false;  ///< the end of the response was queued
};

}  // namespace reprise::net
