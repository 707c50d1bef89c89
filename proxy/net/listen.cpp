#include "proxy/net/listen.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include "proxy/http/reply.hpp"

namespace reprise::net {
namespace {

constexpr Duration accept_pause = std::chrono::milliseconds(100);

// Best effort, in one send: whoever does not read it sees the close.
void turn_away(Loop& loop, tcp::socket socket) {
  http::Reply reply;
  reply.status = 503;
  reply.proxy_status = loop.shared.pseudonym + "; error=connection_limit_reached";
  reply.body = "reprise: limits.connections is reached; try again\n";
  std::string message;
  http::write_reply(reply, loop.date(), "Retry-After: 1\r\nReprise-Reason: connection_limit\r\n", true, false,
                    message);
  ErrorCode ignored;
  socket.non_blocking(true, ignored);
  socket.write_some(asio::buffer(message), ignored);
  socket.shutdown(tcp::socket::shutdown_send, ignored);
}

}  // namespace

std::string_view word(config::ListenerMode mode) {
  return mode == config::ListenerMode::forward ? "forward" : "gateway";
}

std::string describe(std::string_view mode, const tcp::endpoint& endpoint) {
  const std::string address = endpoint.address().to_string();
  const std::string host = endpoint.address().is_v6() ? "[" + address + "]" : address;
  return std::string(mode) + " " + host + ":" + std::to_string(endpoint.port());
}

tcp::acceptor bind_listener(asio::io_context& io, std::string_view mode, const config::Endpoint& where) {
  const tcp::endpoint endpoint(asio::ip::make_address(where.address), where.port);
  tcp::acceptor acceptor(io);
  ErrorCode error;
  acceptor.open(endpoint.protocol(), error);
  if (!error) acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (!error) acceptor.non_blocking(true, error);
  if (error) throw BindError("cannot listen on " + describe(mode, endpoint) + ": " + error.message());
  return acceptor;
}

tcp::acceptor duplicate(asio::io_context& io, tcp::acceptor& original) {
  const int descriptor = ::fcntl(original.native_handle(), F_DUPFD_CLOEXEC, 0);
  if (descriptor < 0) throw BindError("cannot duplicate a listening socket: no descriptor left");
  tcp::acceptor acceptor(io, original.local_endpoint().protocol(), descriptor);
  acceptor.non_blocking(true);
  return acceptor;
}

Task<void> accept_clients(Loop& loop, tcp::acceptor& acceptor, const ListenerRole& role) {
  Timer pause(loop.io);
  while (acceptor.is_open()) {
    auto [error, socket] = co_await acceptor.async_accept(as_result);
    if (error == asio::error::operation_aborted || !acceptor.is_open()) co_return;
    if (error) {
      pause.expires_after(accept_pause);
      co_await pause.async_wait(as_result);
      continue;
    }
    if (loop.shared.client_connections.fetch_add(1, std::memory_order_relaxed) >=
        loop.shared.settings.limits.connections) {
      loop.shared.client_connections.fetch_sub(1, std::memory_order_relaxed);
      turn_away(loop, std::move(socket));
      continue;
    }
    asio::co_spawn(loop.io, serve(loop, std::move(socket), role), asio::detached);
  }
}

}  // namespace reprise::net
