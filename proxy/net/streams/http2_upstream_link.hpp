// A stream of an HTTP/2 upstream that has become a WebSocket, as a connection of its own, so that the code
// for tunnels serves it.
#pragma once

#include <string>
#include <string_view>

#include "proxy/net/io/link.hpp"
#include "proxy/net/streams/http2_upstream_stream.hpp"

namespace reprise::net {

/// Reads and writes the DATA of the stream; END_STREAM is the FIN (RFC 8441 5, row M12). An end of the
/// connection without END_STREAM is a reset. A write that could not be completed must be repeated with the
/// same bytes: bytes count as written only when they have left, so that the end of the tunnel loses none.
class Http2UpstreamLink final : public Link {
 public:
  /// `stream` must outlive the link. Its response head was read, and is a 101.
  explicit Http2UpstreamLink(Http2UpstreamStream& stream) : stream_(stream) {}
  /// Ends the sending, because the stream must not refer to the bytes that the link holds. Does not end the
  /// stream.
  ~Http2UpstreamLink() override { stream_.end_sending(); }
  Http2UpstreamLink(const Http2UpstreamLink&) = delete;
  Http2UpstreamLink& operator=(const Http2UpstreamLink&) = delete;

  asio::any_io_executor executor() override { return stream_.executor(); }
  Task<ErrorCode> connect(const tcp::endpoint&) override { co_return asio::error::already_connected; }
  ReadTask read_some(asio::mutable_buffer) override;
  Task<ErrorCode> wait_readable() override;
  Task<ErrorCode> wait_writable() override { return stream_.send_rest(policy::no_limit); }
  std::size_t write_some(std::span<const asio::const_buffer>, ErrorCode&) override;
  void cancel() override;
  void finish_sending() override { stream_.finish_sending(); }
  /// Resets the stream with CANCEL. What was written before has left.
  void break_sending() override { cut(); }
  void close() override { cut(); }
  void cut() override;
  bool open() const override { return !closed_; }
  Unread unread() override { return received_.empty() ? stream_.unread() : Unread::bytes; }
  Presence presence() override { return closed_ || stream_.failure() ? Presence::reset : Presence::present; }
  bool seems_dead(Duration since) override { return stream_.seems_dead(since); }
  std::uint64_t unacknowledged() override { return stream_.unacknowledged(); }

 private:
  Http2UpstreamStream& stream_;
  std::string_view received_;  ///< the part of the newest piece that was not read yet
  std::string unsent_;         ///< bytes that were queued and are not counted as written yet
  unsigned cancels_ = 0;
  bool closed_ = false;
};

}  // namespace reprise::net
