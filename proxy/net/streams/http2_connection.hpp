// One HTTP/2 connection: owns the socket and the table of its streams, and carries the bytes between the
// socket and the byte machine.
#pragma once

#include <memory>
#include <unordered_map>

#include "proxy/http/http2/wire.hpp"
#include "proxy/net/io/block.hpp"
#include "proxy/net/io/stream.hpp"

namespace reprise::net {

class Http2Stream;

/// Returns the error code for a failed stream; `eof` if the stream failed because the connection ended.
ErrorCode error_of(const http::Http2Failure&);

/// Used on one io thread. A coroutine reads as long as the connection is open, so that a GOAWAY or FIN of an
/// idle connection is known at once (row M55). Each stream keeps the object alive; the socket closes when the
/// connection fails or `close` is called.
class Http2Connection : public std::enable_shared_from_this<Http2Connection> {
 public:
  Http2Connection(const Http2Connection&) = delete;
  Http2Connection& operator=(const Http2Connection&) = delete;
  virtual ~Http2Connection();

  bool is_open() const { return !closed_; }
  /// Returns true once the socket is closed. A client's connection may end before, see `linger`.
  bool is_gone() const { return closed_ && !lingers_; }
  std::size_t open_streams() { return wire().open_streams(); }
  /// Returns the frames with an error code since the last call; nothing if there were none.
  std::optional<http::Http2CodesReceived> take_codes() { return wire().take_codes(); }
  /// Returns true if the peer's host acknowledged no byte within `since`, although the bytes were
  /// retransmitted at least twice (row L4). One system call.
  bool seems_dead(Duration since) { return !closed_ && stream_->seems_dead(since); }
  /// Returns how many sent bytes the peer's host has not acknowledged. One system call.
  std::uint64_t unacknowledged() { return closed_ ? 0 : stream_->unacknowledged(); }
  /// Returns true if bytes of the peer have arrived that were not read yet. One system call.
  bool has_unread() { return !closed_ && stream_->unread() == Unread::bytes; }
  /// Asks the socket whether the peer still sends. One system call.
  Presence presence() { return closed_ ? Presence::reset : stream_->presence(); }
  asio::any_io_executor executor() { return stream_->executor(); }
  /// Sends GOAWAY and ends the connection. Open streams fail.
  void close();

 protected:
  explicit Http2Connection(std::unique_ptr<Stream> stream);

  /// Starts to read and to write. `early`: bytes of the peer that were already read from the stream.
  void start(std::string_view early);
  const ErrorCode& error() const { return error_; }
  /// Ends the reading of discarded bytes, see `linger`.
  void end_discarding() {
    if (lingers_) stream_->end_read();
  }
  /// Sends what the kernel takes at once. The rest follows as soon as the socket is writable.
  void flush();

 private:
  friend class Http2Stream;

  virtual http::Wire& wire() = 0;
  virtual void receive(std::string_view bytes) = 0;
  /// Called after bytes were processed and the streams were woken, or after the connection has ended.
  virtual void changed() = 0;

  /// Returns for how long, between two bytes, the peer's bytes are read and discarded after this side has
  /// ended the connection; zero: not at all. Otherwise the peer's kernel may discard the last frames.
  virtual Duration linger() const { return Duration::zero(); }
  /// Returns true if the connection goes on after the peer's FIN.
  virtual bool outlives_fin() { return false; }

  static Task<void> read(std::shared_ptr<Http2Connection>);
  static Task<void> write_rest(std::shared_ptr<Http2Connection>);
  bool send_some();
  void send_now();
  /// `by_peer`: the connection cannot be used further, because the peer has ended it.
  void fail(const ErrorCode&, bool by_peer);
  void wake_changed();
  void wake_all();

  std::unique_ptr<Stream> stream_;
  std::unordered_map<http::StreamId, Http2Stream*> streams_;
  ErrorCode error_;       ///< the error that ended the connection; set when `closed_` becomes true
  bool reads_ = false;    ///< the peer may still send
  bool writing_ = false;  ///< `write_rest` runs
  bool closed_ = false;
  bool lingers_ = false;  ///< `read` discards what the peer still sends
};

}  // namespace reprise::net
