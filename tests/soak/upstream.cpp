#include "tests/soak/upstream.hpp"

#include <sys/socket.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include "tests/soak/content.hpp"
#include "tests/soak/performance.hpp"

namespace reprise::soak {
namespace {

constexpr std::uint64_t reset_one_in = 300;

using ReusePort = asio::detail::socket_option::boolean<SOL_SOCKET, SO_REUSEPORT>;

void bind(tcp::acceptor& acceptor, std::uint16_t port) {
  acceptor.open(tcp::v4());
  acceptor.set_option(tcp::acceptor::reuse_address(true));
  acceptor.set_option(ReusePort(true));
  acceptor.bind({asio::ip::address_v4::loopback(), port});
}

}  // namespace

Upstream::Upstream(asio::io_context& io, Ledger& ledger)
    : io_(io), ledger_(ledger), steady_(io), tunnel_(io), holder_(io) {
  bind(steady_, 0);
  bind(tunnel_, 0);
  bind(holder_, 0);
  flapping_port_ = holder_.local_endpoint().port();
}

void Upstream::start() {
  steady_.listen(4096);
  tunnel_.listen(4096);
  asio::co_spawn(io_, accept(steady_), asio::detached);
  asio::co_spawn(io_, accept_tunnels(), asio::detached);
  asio::co_spawn(io_, flap(), asio::detached);
}

void Upstream::stop() {
  stopping_ = true;
  steady_.close();
  tunnel_.close();
}

std::uint16_t Upstream::port(Listener listener) const {
  switch (listener) {
    case Listener::steady: return steady_.local_endpoint().port();
    case Listener::tunnel: return tunnel_.local_endpoint().port();
    case Listener::flapping: break;
  }
  return flapping_port_;
}

Task<void> Upstream::accept(tcp::acceptor& acceptor) {
  for (;;) {
    auto [error, socket] = co_await acceptor.async_accept(as_result);
    if (error == asio::error::operation_aborted || !acceptor.is_open()) co_return;
    if (error) continue;
    Chance chance(ledger_.mix().seed, Purpose::connection, ++connections_);
    if (!ledger_.mix().lost_posts && chance.one_in(reset_one_in)) {
      ledger_.refused_at_accept();
      Wire(std::move(socket)).reset();
      continue;
    }
    asio::co_spawn(io_, perform(ledger_, std::move(socket)), asio::detached);
  }
}

// Opens and closes the flapping port alternately. At each close, the kernel resets connections that were not
// accepted yet.
Task<void> Upstream::flap() {
  Chance chance(ledger_.mix().seed, Purpose::flaps);
  while (!stopping_) {
    tcp::acceptor open(io_);
    bind(open, flapping_port_);
    open.listen(4096);
    asio::co_spawn(io_, accept(open), asio::detached);
    co_await pause(300 + chance.below(900));
    open.close();
    co_await pause(20 + chance.below(200));
    ++flaps_;
  }
}

Task<void> Upstream::accept_tunnels() {
  for (;;) {
    auto [error, socket] = co_await tunnel_.async_accept(as_result);
    if (error == asio::error::operation_aborted || !tunnel_.is_open()) co_return;
    if (!error) asio::co_spawn(io_, perform_tunnel(ledger_, std::move(socket)), asio::detached);
  }
}

}  // namespace reprise::soak
