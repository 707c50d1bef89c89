// One stream of an HTTP/2 connection: what both of its ends have in common, and the body of the peer's
// message.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "proxy/net/ends/body_source.hpp"
#include "proxy/net/io/pause.hpp"
#include "proxy/net/streams/http2_connection.hpp"

namespace reprise::net {

/// Reads the peer's message, and sends the own one. The destructor ends the stream, and resets it unless both
/// messages are complete.
class Http2Stream : public BodySource {
 public:
  Http2Stream(const Http2Stream&) = delete;
  Http2Stream& operator=(const Http2Stream&) = delete;

  /// Returns how the stream failed; nothing if it has not.
  std::optional<http::Http2Failure> failure() const;

  bool complete() const override;
  const std::string& trailers() const override;
  http::Rejection malformation() const override;
  std::optional<policy::Http2Code> reset_code() const override;
  bool has_surplus() const override { return false; }
  std::string_view take_whole() override { return {}; }
  bool take_at_hand(BodyStep& step, std::string_view& piece) override;
  Task<BodyStep> next(Duration idle, std::string_view& piece) override;
  Task<BodyStep> next_until(Instant due, std::string_view& piece) override;
  OnSocket rest_on_socket() override { return {}; }
  void skip(std::uint64_t) override {}
  void give_back() override {}
  void end() override {}
  void end_read() override;
  void drop() override;
  asio::any_io_executor executor() override { return connection_->executor(); }

 protected:
  explicit Http2Stream(std::shared_ptr<Http2Connection>);
  virtual ~Http2Stream();

  http::StreamId id() const { return id_; }
  bool is_open() const { return id_ != 0; }
  /// Binds this object to a stream that was opened.
  void bind(http::StreamId);
  http::Wire& wire() const { return connection_->wire(); }
  void flush() { connection_->flush(); }
  const http::Http2Message& message() const { return wire().message(id_); }
  /// Ends the stream. Resets it with `code` unless both messages are complete.
  void forget(http::Http2Code code = http::Http2Code::cancel);
  ErrorCode error() const;
  ErrorCode sending_error() const;

  bool is_all_sent() const { return id_ != 0 && wire().all_written(id_); }
  bool has_sent() const { return id_ == 0 ? sent_ : wire().may_have_sent(id_); }
  std::uint64_t bytes_sent() const { return id_ == 0 ? sent_bytes_ : wire().sent_bytes(id_); }
  /// Waits until everything is sent. Fails if no byte is accepted for `idle`, or not every byte by `latest`.
  Task<ErrorCode> wait_until_sent(Duration idle, Instant latest = Instant::max());
  /// Ends a pending `wait_until_sent` with operation_aborted. Later ones work.
  void end_send_wait();
  /// Drops what is not framed, and lets every pending and later send fail.
  void stop_sending();
  void cancel_all();

  /// Waits until `holds` returns true or the stream fails, at most until the read limit.
  template <typename Condition>
  Task<ErrorCode> wait_to_read(Condition holds) {
    reading_ = true;
    read_ended_ = false;
    ErrorCode result;
    for (;;) {
      if (cancelled_ || read_ended_ || limit_hit_ || send_limit_hit_) {
        result = asio::error::operation_aborted;
        break;
      }
      if (holds()) break;
      result = error();
      if (result) break;
      const Instant due = read_due_.value_or(Instant::max());
      if (Tick::now() >= due) {
        limit_hit_ = true;
      } else {
        co_await arrived_.until(due);
      }
    }
    reading_ = false;
    co_return result;
  }
  void set_read_limit(Instant due);
  void remove_read_limit();
  bool take_read_limit_hit() { return std::exchange(limit_hit_, false) || send_limit_hit_; }
  bool take_send_limit_hit() { return std::exchange(send_limit_hit_, false); }
  bool is_cancelled() const { return cancelled_; }

 private:
  friend class Http2Connection;

  /// Wakes the waiting operations. Called by the connection if the stream has changed or bytes were written.
  void wake();
  /// Reopens the window by the bytes of the last piece, because the reader has passed them on.
  void give_window_back();

  std::shared_ptr<Http2Connection> connection_;
  http::StreamId id_ = 0;         ///< 0: not opened, or forgotten
  std::uint64_t sent_bytes_ = 0;  ///< result of `bytes_sent` after the stream was forgotten
  bool sent_ = false;             ///< result of `has_sent` after the stream was forgotten
  std::string piece_;             ///< the piece that was returned last
  std::string trailers_;
  bool was_complete_ = false;  ///< result of `complete` after the stream was forgotten
  Pause arrived_;
  Pause taken_;
  std::optional<Instant> read_due_;
  bool limit_hit_ = false;
  bool send_limit_hit_ =
      false;  ///< nothing was accepted for the idle time: the stream cannot be used further
  unsigned ended_send_waits_ = 0;
  bool reading_ = false;
  bool read_ended_ = false;  ///< `end_read` was called during a read
  bool sending_ended_ = false;
  bool cancelled_ = false;
};

}  // namespace reprise::net
