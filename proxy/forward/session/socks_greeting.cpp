#include "proxy/forward/session/socks_greeting.hpp"

#include "proxy/forward/tunnel/read_opening.hpp"

namespace reprise::forward {

using http::Rejection;

namespace {

Task<ErrorCode> send(net::Stream& client, std::string_view bytes, Duration limit) {
  net::Gather pieces;
  pieces.add(bytes);
  co_return co_await client.write_all(pieces, limit);
}

constexpr auto is_partial = [](const auto& parsed) { return std::holds_alternative<SocksPartial>(parsed); };

}  // namespace

Task<std::variant<StreamGone, Rejection, SocksRequest>> greet_socks(net::Stream& client, net::Buffer& buffer,
                                                                    Duration limit) {
  client.limit_read(limit);
  const auto greeting = co_await read_opening(client, buffer, read_socks_greeting, is_partial);
  if (const auto* const refused = std::get_if<Rejection>(&greeting)) {
    // The reply can be read only by a client that speaks SOCKS5.
    const std::string reply = socks_method_reply(false);
    if (*refused == Rejection::socks_method) co_await send(client, reply, limit);
    co_return *refused;
  }
  const auto* const greeted = std::get_if<SocksGreeting>(&greeting);
  if (greeted == nullptr) co_return StreamGone{client.take_limit_hit()};
  buffer.consume(greeted->bytes);
  const std::string reply = socks_method_reply(true);
  if (co_await send(client, reply, limit)) co_return StreamGone{};
  const auto wanted = co_await read_opening(client, buffer, read_socks_request, is_partial);
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
