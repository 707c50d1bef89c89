// The upstream's end of an attempt over a connection that speaks HTTP/1.
#pragma once

#include <string>

#include "proxy/net/ends/upstream_end.hpp"

namespace reprise::net {

/// One per connection; carries one request after the other. `stream` must outlive it.
class Http1Upstream final : public UpstreamEnd {
 public:
  explicit Http1Upstream(Stream& stream) : stream_(stream) {}
  Http1Upstream(const Http1Upstream&) = delete;
  Http1Upstream& operator=(const Http1Upstream&) = delete;

  ErrorCode open(const RequestOpening&) override;
  bool all_sent() const override { return pending_.empty(); }
  Task<ErrorCode> send_rest(Duration idle) override { return stream_.write_all(pending_, idle); }
  Task<ErrorCode> send_piece(std::string_view piece, Duration idle) override;
  Task<ErrorCode> send_end(std::string_view trailers, Duration idle) override;
  void end_sending() override { stream_.end_writing(); }

  void limit_unacknowledged(Duration limit) override { stream_.set_user_timeout(limit); }
  void begin_pauses(Duration idle) override;
  void end_pauses() override { stream_.set_user_timeout(usual_limit_); }

  bool may_have_sent() const override { return stream_.may_have_sent(); }
  std::uint64_t sent_bytes() const override { return stream_.sent_bytes(); }
  Acknowledged acknowledged(std::uint64_t head_bytes) override {
    const std::uint64_t left = stream_.unacknowledged();
    return {left == 0, head_bytes + left < sent_bytes()};
  }

  ReadTask read_some(asio::mutable_buffer into) override { return stream_.read_some(into); }
  void limit_read(Duration after) override { stream_.limit_read(after); }
  void limit_read_until(Instant due) override { stream_.limit_read_until(due); }
  void end_limit() override { stream_.end_limit(); }
  bool take_limit_hit() override { return stream_.take_limit_hit(); }
  void end_read() override { stream_.end_read(); }

  Task<ErrorCode> wait_readable() override { return stream_.wait_readable(); }
  Unread unread() override { return stream_.unread(); }
  Task<bool> wait_for_end() override;
  TlsRefusal refusal() const override { return stream_.refusal(); }
  bool seems_dead(Duration since) override { return stream_.seems_dead(since); }

  void cancel() override { stream_.cancel(); }
  asio::any_io_executor executor() override { return stream_.executor(); }

 private:
  void add_piece(std::string_view piece);
  void add_end(std::string_view trailers);

  Stream& stream_;
  Gather pending_;
  std::string size_line_;
  std::string last_chunk_;
  /// Limit for unacknowledged bytes, except between `begin_pauses` and `end_pauses`.
  Duration usual_limit_{};
  bool chunked_ = false;
  bool ended_ = false;  ///< the end of a chunked body was added to `pending_`
};

}  // namespace reprise::net
