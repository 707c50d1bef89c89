// One connection with the few operations that the data path needs: read, write, limit, cut.
#pragma once

#include <array>
#include <cassert>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <variant>

#include "proxy/net/io/link.hpp"
#include "proxy/net/io/task.hpp"
#include "proxy/net/io/tick.hpp"

namespace reprise::net {

/// An operation that waits and can be cancelled.
class Cancellable {
 public:
  virtual void cancel() = 0;
  /// Starts a liveness check; called about once a second during a long wait. If the operation finds that it
  /// cannot succeed, it may end itself.
  virtual void check_liveness() {}

 protected:
  ~Cancellable() = default;
};

/// Up to 8 pieces of memory that are sent together.
class Gather {
 public:
  void add(std::string_view piece) {
    if (piece.empty()) return;
    assert(last_ < most);
    parts_[last_++] = asio::buffer(piece);
  }
  bool empty() const { return first_ == last_; }
  std::span<const asio::const_buffer> parts() const { return {parts_.data() + first_, last_ - first_}; }
  void consume(std::size_t bytes);
  void clear() { first_ = last_ = 0; }

 private:
  static constexpr std::size_t most = 8;
  std::array<asio::const_buffer, most> parts_{};
  std::size_t first_ = 0;
  std::size_t last_ = 0;
};

/// The transport of a stream: a plain socket, or a Link such as TLS over another transport.
using Carrier = std::variant<tcp::socket, std::unique_ptr<Link>>;

/// Sets TCP_NODELAY and keepalive, so that a dead peer is detected in about a minute. Failures are ignored,
/// because the connection works without these options.
void tune(tcp::socket&);

/// Used by one thread. At most one read and one write may be pending at a time. After `cancel` every
/// operation fails at once with operation_aborted.
class Stream final : public Cancellable {
 public:
  Stream(Tick&, Carrier);
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  /// Reads at least one byte, or fails (eof for FIN). The time limit is the one set by the last call of
  /// `limit_read` or `limit_read_until`.
  ReadTask read_some(asio::mutable_buffer);
  /// Waits until data can be read. Holds no buffer meanwhile.
  Task<ErrorCode> wait_readable();
  /// Waits until the kernel accepts bytes for sending again. Fails if this takes longer than `idle`.
  Task<ErrorCode> wait_writable(Duration idle);
  /// Sends as many bytes as the kernel accepts now, and removes them from the Gather. Never blocks.
  [[nodiscard]] ErrorCode write_now(Gather&);
  /// Sends all remaining bytes. Fails if no byte is accepted for `idle`.
  Task<ErrorCode> write_all(Gather&, Duration idle);
  Task<ErrorCode> connect(const tcp::endpoint&, Instant due);
  /// Starts a connect and returns the local address, with port 0 if the connect did not start. `connect` then
  /// finishes the connect. Use this if the local address must be known before the other side can see the
  /// connection. Precondition: a plain socket.
  tcp::endpoint begin_connect(const tcp::endpoint&);

  /// Sets the time limit for the pending read and for all later reads. The limit stays in effect until it is
  /// changed.
  void limit_read(Duration after) {
    limit_hit_ = false;
    tick_.arm(read_limit_, after);
  }
  void limit_read_until(Instant due) {
    limit_hit_ = false;
    tick_.arm_until(read_limit_, due);
  }
  void unlimit_read() { Tick::disarm(read_limit_); }
  /// Clears the read limit after a successful read. Also clears a limit that was hit in the same turn of the
  /// event loop, because otherwise the next read without a limit would fail at once.
  void end_limit() {
    unlimit_read();
    limit_hit_ = false;
  }
  /// Returns true if the last failure was caused by a limit of this stream (not by the kernel's ETIMEDOUT).
  /// Clears the flag.
  bool take_limit_hit() { return std::exchange(limit_hit_, false); }

  /// Returns true if the other side may have received a byte since `reset_sent`: the kernel has accepted a
  /// byte, or a write over TLS has begun, whatever its result.
  bool may_have_sent() const { return sent_; }
  /// Returns true if bytes leave in TLS records, so that bytes of a failed write may have arrived.
  bool is_sealed() const { return link_ != nullptr && link_->sealed(); }
  /// Returns how many bytes were accepted since `reset_sent`. Over TLS, counts plaintext bytes.
  std::uint64_t sent_bytes() const { return sent_bytes_; }
  void reset_sent() {
    sent_ = false;
    sent_bytes_ = 0;
  }

  /// Returns the transport, for use by another stream. This stream is unusable until `run_over` gives it a
  /// new transport.
  Carrier release();
  /// Replaces the transport, for example by TLS over the old transport.
  void run_over(std::unique_ptr<Link> link) { link_ = std::move(link); }
  /// Keeps `token` alive until this stream is destroyed, or until another stream takes the token by
  /// `release_kept`.
  void keep(std::shared_ptr<void> token) { kept_ = std::move(token); }
  std::shared_ptr<void> release_kept() { return std::move(kept_); }
  /// Returns the time at which `connect` began.
  Instant connect_began() const { return connect_began_; }
  /// Sets the time at which `connect` began on the stream that this stream runs over.
  void set_connect_began(Instant began) { connect_began_ = began; }

  void cancel() override;
  /// Ends the pending read with operation_aborted. Later reads work, and a pending write continues.
  void end_read();
  /// Ends the pending write, and the pending read too, with operation_aborted. Every later write also ends
  /// with operation_aborted; later reads work.
  void end_writing();
  /// Sends FIN. Reading continues.
  void finish_sending();
  /// Ends the sending because the bytes come from a connection that broke. A FIN, if the connection has no
  /// better sign for it.
  void break_sending();
  void close();
  /// Closes with RST, so that the other side does not take the sent bytes for complete.
  void cut();

  /// Peeks at the bytes from the other side that were not read yet.
  Unread unread();
  /// Copies the next bytes from the other side that were not read yet, and leaves them unread. Returns their
  /// number: 0 if there are none, or if the connection is encrypted or framed.
  std::size_t peek(asio::mutable_buffer);
  /// Returns why the other side ended TLS; empty if the other side has not ended it.
  TlsRefusal refusal() const { return link_ == nullptr ? TlsRefusal{} : link_->refusal(); }
  /// Returns whether the other side still sends. A FIN is detected even if bytes before it are unread.
  Presence presence();
  /// Returns how many written bytes the other host has not acknowledged. Over TLS, counts the bytes of TLS
  /// records. Makes one system call.
  std::uint64_t unacknowledged() {
    return link_ == nullptr ? unacknowledged_of(socket_.native_handle()) : link_->unacknowledged();
  }
  /// Returns true if sent bytes were retransmitted at least twice and nothing was acknowledged within `since`
  /// (row L4). Makes one system call.
  bool seems_dead(Duration since);
  /// Precondition: this stream is a plain socket.
  int descriptor() {
    assert(is_socket());
    return socket_.native_handle();
  }
  bool is_socket() const { return link_ == nullptr; }
  asio::any_io_executor executor() { return socket_.get_executor(); }
  bool open() const { return link_ == nullptr ? socket_.is_open() : link_->open(); }

  /// Sets TCP_NODELAY and keepalive on a plain socket. Does nothing for a link, because the link's creator
  /// has set them.
  void tune();
  /// Sets TCP_USER_TIMEOUT: how long sent bytes may stay unacknowledged, or the receive window may stay
  /// closed. The value is clamped to the range from 1 ms to the kernel's maximum (row L24); `no_limit`
  /// restores the system's default. Makes a system call only if the value changes.
  void set_user_timeout(Duration);
  /// Returns the user timeout that was set last; `no_limit` initially.
  Duration user_timeout() const { return user_timeout_; }
  /// Limits what the kernel takes before it can send it (TCP_NOTSENT_LOWAT), because bytes in the kernel can
  /// no longer be overtaken.
  void limit_unsent(int bytes);

 private:
  class Limit final : public Timed {
   public:
    explicit Limit(Stream& stream) : stream_(stream) {}

    void arm(Tick& tick, Duration after) {
      hit_ = false;
      tick.arm(*this, after);
    }
    void arm_until(Tick& tick, Instant due) {
      hit_ = false;
      tick.arm_until(*this, due);
    }
    bool hit() const { return hit_; }

   protected:
    void time_is_up() override;

   private:
    Stream& stream_;
    bool hit_ = false;
  };

  Task<ErrorCode> connect_socket(tcp::endpoint);
  Task<ErrorCode> end_connect(ErrorCode begun);
  std::size_t write_some(std::span<const asio::const_buffer>, ErrorCode&);
  void count_sent(std::size_t bytes) {
    sent_ = sent_ || bytes > 0;
    sent_bytes_ += bytes;
  }
  void end_waits();
  bool goes_on(const ErrorCode&) const;

  Tick& tick_;
  std::unique_ptr<Link> link_;  ///< null if the stream is a plain socket
  tcp::socket socket_;
  Limit read_limit_{*this};
  Limit write_limit_{*this};
  Instant connect_began_{};
  std::optional<ErrorCode> begun_;  ///< result of begin_connect
  std::shared_ptr<void> kept_;
  Duration user_timeout_ = policy::no_limit;
  std::uint64_t sent_bytes_ = 0;
  bool sent_ = false;
  bool limit_hit_ = false;
  bool cancelled_ = false;
  bool writing_ended_ = false;
};

}  // namespace reprise::net
