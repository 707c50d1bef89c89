#include "proxy/net/streams/http2_upstream_connection.hpp"

#include "proxy/net/io/http2_error.hpp"

namespace reprise::net {

std::shared_ptr<Http2UpstreamConnection> Http2UpstreamConnection::begin(std::unique_ptr<Stream> stream,
                                                                        const http::HeadLimits& limits,
                                                                        http::StreamMemory& memory,
                                                                        std::string_view early) {
  auto connection = std::make_shared<Http2UpstreamConnection>(std::move(stream), limits, memory);
  connection->start(early);
  return connection;
}

Http2UpstreamConnection::Http2UpstreamConnection(std::unique_ptr<Stream> stream,
                                                 const http::HeadLimits& limits, http::StreamMemory& memory)
    : Http2Connection(std::move(stream)), wire_(limits, memory) {}

Task<ErrorCode> Http2UpstreamConnection::ready(Instant due, Pause& wait) {
  while (!is_decided()) {
    if (Tick::now() >= due) co_return asio::error::timed_out;
    waits_for_settings_ = &wait;
    co_await wait.until(due);
    waits_for_settings_ = nullptr;
    if (!is_decided() && Tick::now() < due) co_return asio::error::operation_aborted;
  }
  // Bytes that are not HTTP/2 are most likely another protocol (row M21).
  const bool is_malformed = wire_.failure() && wire_.failure()->kind == http::Http2Failure::Kind::malformed;
  if (!wire_.ready() && is_malformed) co_return Http2Error::not_http2;
  if (!is_open()) co_return error();
  co_return ErrorCode();
}

void Http2UpstreamConnection::changed() {
  if (waits_for_settings_ != nullptr && is_decided()) waits_for_settings_->cancel();
  const std::function<void()> listener = listener_;  // the listener may set another one
  if (listener) listener();
}

}  // namespace reprise::net
