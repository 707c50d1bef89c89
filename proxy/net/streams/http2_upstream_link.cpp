#include "proxy/net/streams/http2_upstream_link.hpp"

namespace reprise::net {

Task<ErrorCode> Http2UpstreamLink::wait_readable() {
  if (!received_.empty()) co_return ErrorCode();
  const unsigned cancels = cancels_;
  const BodyStep step = co_await stream_.next_until(Instant::max(), received_);
  if (closed_ || cancels != cancels_) co_return asio::error::operation_aborted;
  if (step == BodyStep::end) co_return asio::error::eof;
  co_return step == BodyStep::piece ? ErrorCode() : ErrorCode(asio::error::connection_reset);
}

ReadTask Http2UpstreamLink::read_some(asio::mutable_buffer into) {
  const ErrorCode error = co_await wait_readable();
  const std::size_t bytes = error ? 0 : asio::buffer_copy(into, asio::buffer(received_));
  received_.remove_prefix(bytes);
  co_return std::tuple(error, bytes);
}

std::size_t Http2UpstreamLink::write_some(std::span<const asio::const_buffer> parts, ErrorCode& error) {
  if (unsent_.empty()) {
    for (const asio::const_buffer& part : parts)
      unsent_.append(static_cast<const char*>(part.data()), part.size());
    error = stream_.send_now(unsent_);
  }
  if (!error && !stream_.all_sent()) error = asio::error::would_block;
  if (error) return 0;
  const std::size_t bytes = unsent_.size();
  unsent_.clear();
  return bytes;
}

void Http2UpstreamLink::cancel() {
  ++cancels_;
  stream_.end_read();
  stream_.end_send_wait();
}

void Http2UpstreamLink::cut() {
  closed_ = true;
  received_ = {};
  stream_.cancel();
  stream_.drop();
}

}  // namespace reprise::net
