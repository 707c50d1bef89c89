// The client's end of an exchange over a connection that speaks HTTP/1.
#pragma once

#include <array>
#include <string>

#include "proxy/net/ends/client_end.hpp"

namespace reprise::net {

/// One per connection; takes one response after the other. `stream` must outlive it.
class Http1Client final : public ClientEnd {
 public:
  explicit Http1Client(Stream& stream) : stream_(stream) {}
  Http1Client(const Http1Client&) = delete;
  Http1Client& operator=(const Http1Client&) = delete;

  Task<ErrorCode> send_interim(std::string_view head, Duration idle) override;
  void add_head(std::string_view head, bool chunked) override;
  bool has_room() const override { return lines_used_ < size_lines_.size(); }
  void add_piece(std::string_view piece) override;
  void add_end(std::string_view trailers) override;
  bool send_now(ErrorCode&) override;
  Task<ErrorCode> send_rest(Duration idle) override;
  bool take_limit_hit() override { return stream_.take_limit_hit(); }
  std::uint64_t unacknowledged() override { return stream_.unacknowledged(); }

  Presence presence() override { return stream_.presence(); }
  void break_with(policy::Http2Code) override {}
  void cut() override { stream_.cut(); }
  Stream* socket() override { return !chunked_ && stream_.is_socket() ? &stream_ : nullptr; }

 private:
  void clear();

  Stream& stream_;
  Gather pieces_;
  std::array<std::string, 2> size_lines_;
  std::size_t lines_used_ = 0;
  std::string last_chunk_;
  bool chunked_ = false;
};

}  // namespace reprise::net
