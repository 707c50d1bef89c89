#include "proxy/forward/session/socks_greeting.hpp"

namespace reprise::forward {

using http::Rejection;

namespace {

Task<ErrorCode> send(net::Stream& client, std::string_view bytes, Duration limit) {
  net::Gather pieces;
  pieces.add(bytes);
  co_return co_await client.write_all(pieces, limit);
}

/// Reads until `parse` returns a result. Returns `SocksPartial` if the client left or was too slow.
template <typename Parse>
Task<decltype(std::declval<Parse>()(std::string_view()))> read_until(net::Stream& client, net::Buffer& buffer,
                                                                     Parse parse) {
  auto parsed = parse(buffer.view());
  while (std::holds_alternative<SocksPartial>(parsed)) {
    if (buffer.room_left() == 0) buffer.grow();
    const auto [error, bytes] = co_await client.read_some(buffer.room());
    if (error) break;
    buffer.commit(bytes);
    parsed = parse(buffer.view());
  }
  co_return parsed;
}

}  // namespace

Task<std::variant<StreamGone, Rejection, SocksRequest>> greet_socks(net::Stream& client, net::Buffer& buffer,
                                                                    Duration limit) {
  client.limit_read(limit);
  const auto greeting = co_await read_until(client, buffer, read_socks_greeting);
  if (const auto* const refused = std::get_if<Rejection>(&greeting)) {
    // Only a client that speaks SOCKS5 can read the reply.
    const std::string reply = socks_method_reply(false);
    if (*refused == Rejection::socks_method) co_await send(client, reply, limit);
    co_return *refused;
  }
  const auto* const greeted = std::get_if<SocksGreeting>(&greeting);
  if (greeted == nullptr) co_return StreamGone{client.take_limit_hit()};
  buffer.consume(greeted->bytes);
  const std::string reply = socks_method_reply(true);
  if (co_await send(client, reply, limit)) co_return StreamGone{};
  const auto wanted = co_await read_until(client, buffer, read_socks_request);
  if (const auto* const refused = std::get_if<Rejection>(&wanted)) {
    co_await refuse_socks(client, *refused, limit);
    co_return *refused;
  }
  const auto* const request = std::get_if<SocksRequest>(&wanted);
  if (request == nullptr) co_return StreamGone{client.take_limit_hit()};
  client.unlimit_read();
  buffer.consume(request->bytes);
  co_return *request;
}

Task<void> refuse_socks(net::Stream& client, Rejection cause, Duration limit) {
  const std::string reply = socks_failure(cause);
  co_await send(client, reply, limit);
}

}  // namespace reprise::forward
