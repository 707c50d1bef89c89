#include "proxy/net/ends/http1_upstream.hpp"

#include <array>

#include "proxy/http/http1/chunked.hpp"

namespace reprise::net {

ErrorCode Http1Upstream::open(const RequestOpening& opening) {
  pending_.clear();
  chunked_ = opening.chunked;
  ended_ = false;
  pending_.add(opening.head);
  pending_.add(opening.last_lines);
  if (!opening.body.empty()) add_piece(opening.body);
  if (opening.whole) add_end(opening.trailers);
  return stream_.write_now(pending_);
}

// If the body is chunked, the piece becomes one chunk.
void Http1Upstream::add_piece(std::string_view piece) {
  if (!chunked_) return pending_.add(piece);
  size_line_.clear();
  http::write_chunk_size(piece.size(), size_line_);
  pending_.add(size_line_);
  pending_.add(piece);
  pending_.add("\r\n");
}

void Http1Upstream::add_end(std::string_view trailers) {
  if (!chunked_ || ended_) return;
  ended_ = true;
  last_chunk_.clear();
  http::write_last_chunk(trailers, last_chunk_);
  pending_.add(last_chunk_);
}

Task<ErrorCode> Http1Upstream::send_piece(std::string_view piece, Duration idle) {
  pending_.clear();
  add_piece(piece);
  return stream_.write_all(pending_, idle);
}

Task<ErrorCode> Http1Upstream::send_end(std::string_view trailers, Duration idle) {
  if (!chunked_ || ended_) co_return ErrorCode();
  pending_.clear();
  add_end(trailers);
  co_return co_await stream_.write_all(pending_, idle);
}

void Http1Upstream::begin_pauses(Duration idle) {
  usual_limit_ = stream_.user_timeout();
  stream_.set_user_timeout(idle);
}

Task<bool> Http1Upstream::wait_for_end() {
  std::array<char, 1> byte{};
  stream_.end_limit();
  const auto [error, bytes] = co_await stream_.read_some(asio::buffer(byte));
  co_return bytes == 0;
}

}  // namespace reprise::net
