#include "proxy/net/ends/body_reader.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "proxy/net/io/tls_error.hpp"

namespace reprise::net {

using http::ChunkDecoder;
using http::Framing;

void BodyReader::begin(Stream& stream, Buffer& behind_head, const Framing& framing, http::Spelling trailers) {
  stream_ = &stream;
  behind_head_ = &behind_head;
  framing_ = framing;
  left_ = framing.length;
  decoder_.reset(trailers);
  complete_ =
      framing.kind == Framing::Kind::none || (framing.kind == Framing::Kind::length && framing.length == 0);
}

void BodyReader::end() {
  if (behind_head_ != nullptr && behind_head_->empty() && !own_.empty()) std::swap(*behind_head_, own_);
  own_.clear();
  own_.give_back();
  behind_head_ = nullptr;
  complete_ = true;
}

std::string_view BodyReader::take_whole() {
  const bool counted = framing_.kind == Framing::Kind::length && left_ > 0;
  if (!counted || left_ > behind_head_->size()) return {};
  const std::string_view whole = behind_head_->view().substr(0, static_cast<std::size_t>(left_));
  behind_head_->consume(whole.size());
  skip(left_);
  return whole;
}

BodySource::OnSocket BodyReader::rest_on_socket() {
  const bool counted = framing_.kind == Framing::Kind::length;
  if (!counted || has_surplus() || !stream_->is_socket()) return {};
  return {stream_, left_};
}

void BodyReader::skip(std::uint64_t bytes) {
  left_ -= bytes;
  complete_ = left_ == 0;
}

void BodyReader::drop() {
  own_.clear();
  own_.give_back();
  behind_head_ = nullptr;
  complete_ = true;
}

BodyStep BodyReader::take_counted(Buffer& from, std::string_view& piece) {
  const bool to_the_end = framing_.kind == Framing::Kind::until_close;
  const auto bytes =
      to_the_end ? from.size() : static_cast<std::size_t>(std::min<std::uint64_t>(left_, from.size()));
  piece = from.view().substr(0, bytes);
  from.consume(bytes);
  if (to_the_end) return BodyStep::piece;
  left_ -= bytes;
  complete_ = left_ == 0;
  return BodyStep::piece;
}

// Joins all available chunks to one piece by moving their data over the chunk framing. So a flood of small
// chunks does not cost one send for each chunk (row I1).
BodyStep BodyReader::take_chunked(Buffer& from, std::string_view& piece) {
  char* first = nullptr;
  std::size_t bytes = 0;
  while (!from.empty() && !complete_) {
    const ChunkDecoder::Step step = decoder_.step(from.view());
    if (step.state == ChunkDecoder::State::broken) {
      // Delivers the valid data first. The next call of the decoder reports the same error again.
      if (bytes > 0) break;
      malformation_ = step.cause;
      return BodyStep::malformed;
    }
    if (bytes == 0) {
      first = const_cast<char*>(step.data.data());  // a view into `from`
    } else if (!step.data.empty()) {
      std::memmove(first + bytes, step.data.data(), step.data.size());
    }
    bytes += step.data.size();
    from.consume(step.consumed);
    complete_ = step.state == ChunkDecoder::State::done;
  }
  piece = {first, bytes};
  return complete_ && bytes == 0 ? BodyStep::end : BodyStep::piece;
}

BodyStep BodyReader::take(Buffer& from, std::string_view& piece) {
  return chunked() ? take_chunked(from, piece) : take_counted(from, piece);
}

bool BodyReader::take_at_hand(BodyStep& step, std::string_view& piece) {
  piece = {};
  if (complete_) {
    step = BodyStep::end;
    return true;
  }
  for (;;) {
    Buffer& from = behind_head_->empty() ? own_ : *behind_head_;
    if (from.empty()) return false;
    step = take(from, piece);
    if (step != BodyStep::piece || !piece.empty()) return true;
  }
}

BodyStep BodyReader::ended(const ErrorCode& error) {
  if (stream_->take_limit_hit()) return BodyStep::stalled;
  // Over TLS, a FIN without close_notify does not complete a body, because anyone on the path can forge a FIN
  // (row B4).
  if (error == TlsError::no_close_notify) return BodyStep::closed;
  if (error != asio::error::eof) return BodyStep::failed;
  if (framing_.kind != Framing::Kind::until_close) return BodyStep::closed;
  complete_ = true;
  return BodyStep::end;
}

asio::mutable_buffer BodyReader::room() {
  // If the last read has filled the buffer, more data is probably waiting. Fewer, larger reads are cheaper.
  const bool filled = own_.room_left() == 0;
  own_.clear();
  if (filled || own_.room_left() < large_block_bytes) own_.enlarge_if_empty();
  const asio::mutable_buffer all = own_.room();
  if (framing_.kind != Framing::Kind::length) return all;
  return asio::buffer(all, static_cast<std::size_t>(std::min<std::uint64_t>(left_, all.size())));
}

// Precondition: the caller has armed the read limit.
Task<BodyStep> BodyReader::read_more(std::string_view& piece) {
  BodyStep step = BodyStep::end;
  while (!take_at_hand(step, piece)) {
    const auto [error, bytes] = co_await stream_->read_some(room());
    if (error) {
      step = ended(error);
      break;
    }
    own_.commit(bytes);
  }
  stream_->end_limit();
  co_return step;
}

Task<BodyStep> BodyReader::next(Duration idle, std::string_view& piece) {
  stream_->limit_read(idle);
  co_return co_await read_more(piece);
}

Task<BodyStep> BodyReader::next_until(Instant due, std::string_view& piece) {
  stream_->limit_read_until(due);
  co_return co_await read_more(piece);
}

}  // namespace reprise::net
