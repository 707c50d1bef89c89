// A CONNECT stream or a WebSocket of an HTTP/2 client as a connection of its own, so that all code for
// tunnels serves it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "proxy/http/http1/chunked.hpp"
#include "proxy/net/io/link.hpp"
#include "proxy/net/streams/http2_client_stream.hpp"

namespace reprise::net {

/// Reads return the request's head as HTTP/1 text, and then the DATA of the stream; END_STREAM is the FIN
/// (RFC 9113 8.5, row M11). Writes must begin with a response head as HTTP/1 text, which interim heads may
/// precede; later bytes are sent as DATA. A response that opens no tunnel ends the stream when its body is
/// complete, and the next read returns the end.
/// - CONNECT: a 2xx opens the tunnel.
/// - Extended CONNECT for a WebSocket (RFC 8441, row M12): the head that is read gets a key. A 101 opens the
///   tunnel, and is sent as a 200.
class Http2ClientLink final : public Link {
 public:
  /// `id`: a stream that has begun.
  Http2ClientLink(std::shared_ptr<Http2ClientConnection>, http::StreamId id);
  /// Closes the link.
  ~Http2ClientLink() override { end_now(); }

  asio::any_io_executor executor() override { return end().executor(); }
  Task<ErrorCode> connect(const tcp::endpoint&) override { co_return asio::error::already_connected; }
  ReadTask read_some(asio::mutable_buffer) override;
  std::size_t read_now(asio::mutable_buffer, ErrorCode&) override;
  Task<ErrorCode> wait_readable() override;
  Task<ErrorCode> wait_writable() override;
  std::size_t write_some(std::span<const asio::const_buffer>, ErrorCode&) override;
  void cancel() override;
  void finish_sending() override;
  /// Resets the stream with CONNECT_ERROR, or with INTERNAL_ERROR if it carries a response, at once or when
  /// the bytes that were written before are sent.
  void break_sending() override;
  /// Ends the stream in order. What the client's window holds back is sent later, for at most 30 seconds.
  void close() override { end_now(); }
  void cut() override;
  bool open() const override { return !is_over(); }
  Unread unread() override;
  Presence presence() override { return is_over() ? Presence::reset : end().presence(); }
  bool seems_dead(Duration) override { return false; }
  std::uint64_t unacknowledged() override { return is_over() ? 0 : end().unacknowledged(); }

 private:
  /// The stream, and the bytes that are being sent. Outlives the link until the client has taken them.
  struct Sender {
    Http2ClientStream end;
    std::string bytes;
    bool is_over = false;  ///< the stream was ended

    Sender(std::shared_ptr<Http2ClientConnection> connection, http::StreamId id)
        : end(std::move(connection), id) {}
    void finish(http::Http2Code);
  };
  /// Waits until the client has taken everything, and ends the stream with `code`. Ends it with CANCEL if the
  /// client does not take everything.
  static Task<void> send_last(std::shared_ptr<Sender>, http::Http2Code code);

  Http2ClientStream& end() { return sender_->end; }
  bool is_over() const { return closed_ || sender_->is_over; }
  void end_now();
  /// Returns the code for a stream whose upstream side broke.
  http::Http2Code break_code() const {
    return left_ || chunks_ ? http::Http2Code::internal_error : http::Http2Code::connect_error;
  }
  bool take_at_hand(ErrorCode& error);
  bool is_sent(ErrorCode& error);
  bool take_head(std::string& bytes);
  void begin_response();
  void take_body(std::string_view bytes);
  void send_data(std::string_view bytes, ErrorCode& error);

  std::string request_;        ///< the part of the request's head that was not read yet
  std::string response_;       ///< the response's head, as far as it was written
  std::string_view received_;  ///< the part of the newest piece that was not read yet
  std::shared_ptr<Sender> sender_;
  std::optional<std::uint64_t> left_;         ///< bytes of the response's body, if it has a length
  std::optional<http::ChunkDecoder> chunks_;  ///< of the response's body, if it is chunked
  unsigned cancels_ = 0;
  bool is_websocket_ = false;   ///< the request asks for a WebSocket
  bool has_responded_ = false;  ///< the response's head was sent
  bool is_tunnel_ = false;      ///< the response has opened a tunnel
  bool is_whole_ = false;       ///< the response's body is complete
  bool is_sending_ = false;     ///< not all bytes of the sender were sent yet
  bool finished_ = false;       ///< the end was sent
  bool broken_ = false;         ///< `break_sending` was called
  bool closed_ = false;
};

}  // namespace reprise::net
