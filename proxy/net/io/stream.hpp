// One connection behind the few verbs that the data path needs: read, write, limit, cut.
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

/// Something that waits and can be told to stop waiting.
class Cancellable {
 public:
  virtual void cancel() = 0;
  /// Called about once a second by whoever watches a long wait: it may find that it waits in vain, and end.
  virtual void look_out() {}

 protected:
  ~Cancellable() = default;
};

/// A few pieces of memory that leave together.
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

 private:
  static constexpr std::size_t most = 8;
  std::array<asio::const_buffer, most> parts_{};
  std::size_t first_ = 0;
  std::size_t last_ = 0;
};

/// What a stream runs over: a socket, or a link of another kind.
using Carrier = std::variant<tcp::socket, std::unique_ptr<Link>>;

/// TCP_NODELAY and keepalive, so that a host that died is noticed in about a minute. Failures are ignored:
/// the connection works without.
void tune(tcp::socket&);

/// Used by one thread. One read and one write may be under way at a time. After `cancel` every verb fails at
/// once with operation_aborted.
class Stream final : public Cancellable {
 public:
  Stream(Tick&, Carrier);
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  /// At least one byte, or an error (eof for FIN). The limit is whatever `limit_read` said last.
  ReadTask read_some(asio::mutable_buffer);
  /// Until there is something to read, holding no memory meanwhile.
  Task<ErrorCode> wait_readable();
  /// Until the kernel takes bytes again; fails after `idle`.
  Task<ErrorCode> wait_writable(Duration idle);
  /// Sends what the kernel takes now and consumes it; what is left stays in `Gather`. Never blocks.
  [[nodiscard]] ErrorCode write_now(Gather&);
  /// Sends the rest; fails if no byte moves for `idle`.
  Task<ErrorCode> write_all(Gather&, Duration idle);
  Task<ErrorCode> connect(const tcp::endpoint&, Instant due);
  /// What `connect` does first, for whoever has to know the address that it goes out from before the other
  /// side can; unset where it does not go out. Only of a plain socket.
  tcp::endpoint begin_connect(const tcp::endpoint&);

  /// Ends a read under way or to come; stays until changed.
  void limit_read(Duration after) {
    limit_hit_ = false;
    tick_.arm(read_limit_, after);
  }
  void limit_read_until(Instant due) {
    limit_hit_ = false;
    tick_.arm_until(read_limit_, due);
  }
  void unlimit_read() { Tick::disarm(read_limit_); }
  /// After a read that has come to something: a limit that was hit in the same turn is forgotten, too, or
  /// what is read next without one would end at once.
  void end_limit() {
    unlimit_read();
    limit_hit_ = false;
  }
  /// True if the last failure was a limit of ours (and not the kernel's ETIMEDOUT). Cleared by the call.
  bool take_limit_hit() { return std::exchange(limit_hit_, false); }

  /// True if the other side may have seen a byte since `forget_sent`: the kernel has taken one, or a write
  /// over TLS was begun, whatever came of it.
  bool may_have_sent() const { return sent_; }
  /// How many bytes of what was written since then were taken; over TLS, of the text in clear.
  std::uint64_t sent_bytes() const { return sent_bytes_; }
  void forget_sent() {
    sent_ = false;
    sent_bytes_ = 0;
  }

  /// What it runs over, for another stream to run over; this one is of no use until it runs over something.
  Carrier release();
  /// From now on it runs over that, as TLS over what it ran over before.
  void run_over(std::unique_ptr<Link> link) { link_ = std::move(link); }
  /// Kept until this is gone, or the stream that takes it over.
  void keep(std::shared_ptr<void> token) { kept_ = std::move(token); }
  std::shared_ptr<void> release_kept() { return std::move(kept_); }
  /// When `connect` was begun.
  Instant connect_began() const { return connect_began_; }

  void cancel() override;
  /// Ends a read under way with operation_aborted; later ones work, and a write goes on.
  void end_read();
  /// Ends a write under way, or to come, with operation_aborted, and a read under way too; later reads work.
  void end_writing();
  /// Sends FIN, goes on reading.
  void finish_sending();
  void close();
  /// Closes with RST, so that nobody takes what was sent for complete.
  void cut();

  /// What of the other side's is there and was not read.
  Unread unread();
  /// Returns why the other side ended TLS; empty if it has not.
  TlsRefusal refusal() const { return link_ == nullptr ? TlsRefusal{} : link_->refusal(); }
  /// Whether the other side still sends, even behind bytes that nobody has read.
  Presence presence();
  /// Bytes that were written and that the other host has not acknowledged; over TLS, of its records. A system
  /// call.
  std::uint64_t unacknowledged() {
    return link_ == nullptr ? unacknowledged_of(socket_.native_handle()) : link_->unacknowledged();
  }
  /// Whether the other side has acknowledged nothing of what was sent within `since`, though it was sent
  /// again twice at least (row L4). A system call.
  bool unheard(Duration since);
  /// Only of a plain socket.
  int descriptor() {
    assert(is_socket());
    return socket_.native_handle();
  }
  bool is_socket() const { return link_ == nullptr; }
  asio::any_io_executor executor() { return socket_.get_executor(); }
  bool open() const { return link_ == nullptr ? socket_.is_open() : link_->open(); }

  /// Of a plain socket; a link is tuned by whoever made it.
  void tune();
  /// TCP_USER_TIMEOUT: how long sent bytes may stay unacknowledged, or the window shut; from 1 ms to what the
  /// kernel takes (row L24); `no_limit`: the system's own. A system call only where it changes.
  void set_user_timeout(Duration);
  /// What was set last; `no_limit` at the beginning.
  Duration user_timeout() const { return user_timeout_; }

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
  std::unique_ptr<Link> link_;  ///< null: the socket is all there is
  tcp::socket socket_;
  Limit read_limit_{*this};
  Limit write_limit_{*this};
  Instant connect_began_{};
  std::optional<ErrorCode> begun_;  ///< of begin_connect
  std::shared_ptr<void> kept_;
  Duration user_timeout_ = policy::no_limit;
  std::uint64_t sent_bytes_ = 0;
  bool sent_ = false;
  bool limit_hit_ = false;
  bool cancelled_ = false;
  bool writing_ended_ = false;
};

}  // namespace reprise::net
