#include "proxy/forward/tunnel/sniff_protocol.hpp"

#include <array>
#include <optional>

#include "proxy/forward/tunnel/first_byte_watch.hpp"

namespace reprise::forward {

using http::DetectedProtocol;

namespace {

bool speaks_http2(net::Stream& upstream) {
  std::array<char, 9> head{};
  return http::begin_with_settings({head.data(), upstream.peek(asio::buffer(head))});
}

}  // namespace

Task<DetectedProtocol> sniff_protocol(net::Stream& client, net::Buffer& from_client, net::Stream* upstream,
                                      const http::Connect& tunnel, std::size_t longest_target,
                                      SniffLimits time) {
  http::StreamStart arrived{from_client.view()};
  DetectedProtocol detected = http::detect_by_first_bytes(arrived, tunnel, longest_target);
  if (detected != DetectedProtocol::more) co_return detected;
  // Detects a client that left after an earlier wait. epoll does not report the end of its connection again,
  // so a read would wait forever.
  arrived.waited_enough = bool(detected_end(client));
  if (arrived.waited_enough) co_return http::detect_by_first_bytes(arrived, tunnel, longest_target);
  std::optional<FirstByteWatch> upstream_watch;
  if (upstream != nullptr) upstream_watch.emplace(*upstream, client);
  client.limit_read(from_client.empty() ? time.before_first_byte : time.after_first_byte);
  while (detected == DetectedProtocol::more) {
    if (from_client.room_left() == 0) from_client.grow();
    auto [error, bytes] = co_await client.read_some(from_client.room());
    // If a request arrived together with the upstream's FIN, the request can still be served and retried.
    const bool upstream_ended = upstream_watch && upstream_watch->ended();
    if (!arrived.upstream_sent && upstream_watch && upstream_watch->arrived()) {
      arrived.upstream_sent = true;
      arrived.upstream_speaks_http2 = speaks_http2(*upstream);
      // The watch has ended the read. The client's preface may still come.
      if (arrived.upstream_speaks_http2 && error == asio::error::operation_aborted) error = {};
    }
    if (error && upstream_ended && client.unread() == net::Unread::bytes) {
      client.end_limit();
      std::tie(error, bytes) = co_await client.read_some(from_client.room());
    }
    if (!error && bytes > 0 && from_client.empty() && time.after_first_byte != time.before_first_byte)
      client.limit_read(time.after_first_byte);
    if (!error) from_client.commit(bytes);
    arrived.from_client = from_client.view();
    arrived.waited_enough = error || upstream_ended;
    detected = http::detect_by_first_bytes(arrived, tunnel, longest_target);
  }
  client.end_limit();
  if (upstream_watch) co_await upstream_watch->stop();
  co_return detected;
}

}  // namespace reprise::forward
