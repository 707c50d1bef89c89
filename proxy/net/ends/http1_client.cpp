#include "proxy/net/ends/http1_client.hpp"

#include "proxy/http/http1/chunked.hpp"

namespace reprise::net {

Task<ErrorCode> Http1Client::send_interim(std::string_view head, Duration idle) {
  Gather pieces;
  pieces.add(head);
  const ErrorCode error = co_await stream_.write_all(pieces, idle);
  // A part of the head may have been sent, so nothing may follow it.
  if (error) stream_.end_writing();
  co_return error;
}

void Http1Client::add_head(std::string_view head, bool chunked) {
  clear();
  chunked_ = chunked;
  pieces_.add(head);
}

// If the body is chunked, the piece becomes one chunk.
void Http1Client::add_piece(std::string_view piece) {
  std::string& line = size_lines_[lines_used_++];
  if (!chunked_) return pieces_.add(piece);
  line.clear();
  http::write_chunk_size(piece.size(), line);
  pieces_.add(line);
  pieces_.add(piece);
  pieces_.add("\r\n");
}

void Http1Client::add_end(std::string_view trailers) {
  if (!chunked_) return;
  last_chunk_.clear();
  http::write_last_chunk(trailers, last_chunk_);
  pieces_.add(last_chunk_);
}

bool Http1Client::send_now(ErrorCode& error) {
  error = stream_.write_now(pieces_);
  if (!error && !pieces_.empty()) return false;
  clear();
  return true;
}

Task<ErrorCode> Http1Client::send_rest(Duration idle) {
  const ErrorCode error = co_await stream_.write_all(pieces_, idle);
  clear();
  co_return error;
}

void Http1Client::clear() {
  pieces_.clear();
  lines_used_ = 0;
}

}  // namespace reprise::net
