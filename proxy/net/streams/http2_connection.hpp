// One HTTP/2 connection to an upstream: owns the socket, the byte machine and the table of its streams.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>

#include "proxy/http/http2/upstream_wire.hpp"
#include "proxy/net/io/block.hpp"
#include "proxy/net/io/pause.hpp"
#include "proxy/net/io/stream.hpp"

namespace reprise::net {

class Http2Stream;

/// Returns the error code for a failed stream; `eof` if the stream failed because the connection ended.
ErrorCode error_of(const http::Http2Failure&);

/// Used on one io thread. A coroutine reads as long as the connection is open, so that a GOAWAY or FIN of an
/// idle connection is known at once (row M55). Each stream keeps the object alive; the socket closes when the
/// connection fails or `close` is called.
class Http2Connection final : public std::enable_shared_from_this<Http2Connection> {
 public:
  /// Takes over a connection on which nothing was sent, and sends preface and SETTINGS. `limits`: the limits
  /// for each response head. `memory`: allows larger windows of streams. `early`: bytes of the upstream that
  /// were already read from the stream.
  static std::shared_ptr<Http2Connection> begin(std::unique_ptr<Stream>, const http::HeadLimits& limits,
                                                http::StreamMemory& memory, std::string_view early = {});
  /// Use `begin`.
  Http2Connection(std::unique_ptr<Stream>, const http::HeadLimits& limits, http::StreamMemory& memory);
  ~Http2Connection();
  Http2Connection(const Http2Connection&) = delete;
  Http2Connection& operator=(const Http2Connection&) = delete;

  /// Waits until the SETTINGS of the upstream have arrived, at most until `due` (row M25). Returns timed_out
  /// if they have not arrived by then, or the error that ended the connection. Cancelling `wait` ends the
  /// call with operation_aborted.
  Task<ErrorCode> ready(Instant due, Pause& wait);
  /// Returns how many more streams may begin. 0 before the upstream's SETTINGS arrive, after GOAWAY, and
  /// after a failure.
  std::size_t room() const { return closed_ ? 0 : wire_.room(); }
  bool is_open() const { return !closed_; }
  std::size_t open_streams() const { return wire_.open_streams(); }
  const http::UpstreamWire& wire() const { return wire_; }
  /// Returns the frames with an error code since the last call; nothing if there were none.
  std::optional<http::Http2CodesReceived> take_codes() { return wire_.take_codes(); }
  /// Sets the function that is called whenever the number of streams that may begin, or `is_open`, may have
  /// changed. It must not destroy this object.
  void set_listener(std::function<void()> listener) { listener_ = std::move(listener); }
  /// Returns true if the upstream's host acknowledged no byte within `since`, although the bytes were
  /// retransmitted at least twice (row L4). One system call.
  bool seems_dead(Duration since) { return !closed_ && stream_->seems_dead(since); }
  /// Sends GOAWAY and closes. Open streams fail.
  void close();

 private:
  friend class Http2Stream;

  /// Returns true once it is known whether the upstream's SETTINGS will ever be there.
  bool is_decided() const { return wire_.ready() || closed_ || wire_.failure(); }
  static Task<void> read(std::shared_ptr<Http2Connection>);
  static Task<void> write_rest(std::shared_ptr<Http2Connection>);
  asio::any_io_executor executor() { return stream_->executor(); }
  /// Sends what the kernel takes at once. The rest follows as soon as the socket is writable.
  void flush();
  bool send_some();
  void send_now();
  void fail(const ErrorCode&);
  void wake_changed();
  void wake_all();
  void tell_listener();

  std::unique_ptr<Stream> stream_;
  http::UpstreamWire wire_;
  std::unordered_map<http::StreamId, Http2Stream*> streams_;
  std::function<void()> listener_;
  Pause* waits_for_settings_ = nullptr;
  ErrorCode error_;       ///< the error that ended the connection; set when `closed_` becomes true
  bool writing_ = false;  ///< `write_rest` runs
  bool closed_ = false;
};

}  // namespace reprise::net
