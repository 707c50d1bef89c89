#include "proxy/forward/session/listen.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "proxy/forward/session/port_holder.hpp"
#include "proxy/forward/session/turn_away.hpp"
#include "proxy/net/upstream/address.hpp"
#include "proxy/policy/match/enumerators.hpp"

namespace reprise::forward {

using telemetry::LimitHit;

namespace {

constexpr Duration accept_pause = std::chrono::milliseconds(100);

/// The accept loop of one listener on one io thread.
class AcceptLoop {
 public:
  AcceptLoop(Worker& worker, std::shared_ptr<Listener> listener)
      : worker_(worker), listener_(std::move(listener)), acceptor_(*listener_->acceptor), pause_(worker.io) {}

  Task<void> run();
  void close();

 private:
  void admit(tcp::socket, const tcp::endpoint& client);
  Task<void> accept_without_descriptor();
  Task<void> pause_accepting();
  void log_no_room(LimitHit why, const tcp::endpoint& client);

  Worker& worker_;
  const std::shared_ptr<Listener> listener_;
  tcp::acceptor& acceptor_;
  net::Timer pause_;
  Instant last_log_{};  ///< time of the last log line about a client that was turned away
};

Task<void> AcceptLoop::run() {
  while (acceptor_.is_open()) {
    // Tries to take the reserve descriptor back. This fails if another thread has used the freed descriptor
    // meanwhile.
    worker_.reserve.take();
    tcp::endpoint client;
    auto [error, socket] = co_await acceptor_.async_accept(client, as_result);
    if (error == asio::error::operation_aborted || !acceptor_.is_open()) co_return;
    if (!error) {
      admit(std::move(socket), client);
    } else if (net::is_out_of_descriptors(error.value())) {
      co_await accept_without_descriptor();
    } else {
      co_await pause_accepting();
    }
  }
}

// First accepts the connections that are waiting, because they may already hold requests and closing the
// listener would reset them.
void AcceptLoop::close() {
  tcp::endpoint client;
  ErrorCode nobody;
  for (int left = asio::socket_base::max_listen_connections; left > 0; --left) {
    tcp::socket socket(worker_.io);
    acceptor_.accept(socket, client, nobody);
    if (nobody) break;
    admit(std::move(socket), client);
  }
  listener_->closed = true;
  acceptor_.close(nobody);
  worker_.sessions.each([](ClientSession& session) { session.announce_end(); });
}

void AcceptLoop::admit(tcp::socket socket, const tcp::endpoint& client) {
  Shared& shared = worker_.shared;
  const net::Snapshot& now = *worker_.snapshot;
  const ListenerMode& mode = listener_->role->mode();
  const bool full = shared.client_connections.fetch_add(1, std::memory_order_relaxed) >= now.most_clients;
  if (full && !worker_.make_room()) {
    shared.client_connections.fetch_sub(1, std::memory_order_relaxed);
    const bool lowered = now.most_clients < now.settings.limits.connections;
    log_no_room(lowered ? LimitHit::no_descriptor : LimitHit::connection_limit, client);
    turn_away(worker_, std::move(socket), mode,
              lowered ? LimitHit::no_descriptor : LimitHit::connection_limit);
    return;
  }
  const ConnectionEnds ends{client, mode.asked_address(socket)};
  net::tune(socket);
  serve(worker_, {std::move(socket), listener_, listener_->role, ends, place_of_client(shared)});
}

// Waits for a client before it calls accept(2), because without a free descriptor accept(2) fails even if no
// client waits. If there is still no free descriptor when a client comes, closes an idle connection to free
// one. If there is no idle connection, uses the reserve descriptor to turn the client away.
Task<void> AcceptLoop::accept_without_descriptor() {
  const auto [error] = co_await acceptor_.async_wait(tcp::acceptor::wait_read, as_result);
  if (error) co_return;
  tcp::socket socket(worker_.io);
  tcp::endpoint client;
  ErrorCode refused;
  acceptor_.accept(socket, client, refused);
  if (!refused) co_return admit(std::move(socket), client);
  const bool still = net::is_out_of_descriptors(refused.value());
  if (!still || worker_.make_room() || worker_.pool.make_room()) co_return;
  worker_.reserve.give_up();
  acceptor_.accept(socket, client, refused);
  if (!refused) log_no_room(LimitHit::no_descriptor, client);
  if (!refused) turn_away_now(worker_, std::move(socket), listener_->role->mode(), LimitHit::no_descriptor);
  // Another thread has taken the descriptor that the reserve freed.
  if (net::is_out_of_descriptors(refused.value())) co_await pause_accepting();
}

// Logs why a client is turned away, at most once a second, because many clients are affected at the same
// time.
void AcceptLoop::log_no_room(LimitHit why, const tcp::endpoint& client) {
  constexpr Duration quiet = std::chrono::seconds(1);
  const Instant now = net::Tick::now();
  if (last_log_ != Instant{} && now - last_log_ < quiet) return;
  last_log_ = now;
  std::string text = "rejected 503 ";
  text.append(telemetry::word(why)).append(": from ").append(net::endpoint_text(client));
  text.append(" at ").append(listener_->role->name).append(". ").append(advice_of(why));
  worker_.shared.log.message(config::LogLevel::warn, text, net::Clock::wall_nanoseconds());
}

Task<void> AcceptLoop::pause_accepting() {
  pause_.expires_after(accept_pause);
  co_await pause_.async_wait(as_result);
}

/// Returns advice on how to choose another port for the listener.
std::string other_port(std::string_view mode) {
  if (mode == "admin") return "--admin PORT or admin.bind";
  return mode == "forward" ? "--forward PORT or listeners[].bind" : "listeners[].bind";
}

// Returns advice for a port that cannot be bound.
std::string hint_for(const ErrorCode& error, std::string_view mode, const tcp::endpoint& wanted) {
  if (error == asio::error::address_in_use) {
    const std::string holder = holder_of(wanted);
    return ": choose another port, or stop the program that uses it" +
           (holder.empty() ? "" : " (" + holder + ")") + "; " + other_port(mode) + " sets the port";
  }
  if (error == asio::error::access_denied) return ": ports below 1024 need a privilege: choose a higher port";
  if (error == boost::system::errc::address_not_available)
    return ": no network interface of this host has that address";
  return {};
}

}  // namespace

std::string_view word(config::ListenerMode mode) {
  return policy::names_of<config::ListenerMode>[static_cast<std::size_t>(mode)];
}

std::string describe(std::string_view mode, const tcp::endpoint& endpoint) {
  return std::string(mode) + " " + net::endpoint_text(endpoint);
}

void lend_port(tcp::acceptor& acceptor, Port port) {
  const int lent = port == Port::lent ? 1 : 0;
  ::setsockopt(acceptor.native_handle(), SOL_SOCKET, SO_REUSEPORT, &lent, sizeof(lent));
}

tcp::acceptor bind_listener(asio::io_context& io, std::string_view mode, const config::Endpoint& where,
                            Port port) {
  const tcp::endpoint endpoint(asio::ip::make_address(where.address), where.port);
  tcp::acceptor acceptor(io);
  ErrorCode error;
  acceptor.open(endpoint.protocol(), error);
  if (!error) acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) lend_port(acceptor, port);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (!error) acceptor.non_blocking(true, error);
  if (error)
    throw BindError("cannot listen on " + describe(mode, endpoint) + ": " + error.message() +
                    hint_for(error, mode, endpoint));
  lend_port(acceptor, Port::own);
  return acceptor;
}

tcp::acceptor take_or_bind(asio::io_context& io, std::string_view mode, const config::Endpoint& where,
                           std::vector<net::InheritedSocket>& inherited, Port port) {
  const tcp::endpoint wanted(asio::ip::make_address(where.address), where.port);
  const auto found = std::find_if(inherited.begin(), inherited.end(),
                                  [&](const net::InheritedSocket& one) { return one.bound == wanted; });
  if (found == inherited.end()) return bind_listener(io, mode, where, port);
  tcp::acceptor acceptor(io, wanted.protocol(), found->descriptor);
  acceptor.non_blocking(true);
  inherited.erase(found);
  return acceptor;
}

tcp::acceptor duplicate(asio::io_context& io, tcp::acceptor& original) {
  const int descriptor = ::fcntl(original.native_handle(), F_DUPFD_CLOEXEC, 0);
  if (descriptor < 0) throw BindError("cannot duplicate a listening socket: no free file descriptor");
  tcp::acceptor acceptor(io, original.local_endpoint().protocol(), descriptor);
  acceptor.non_blocking(true);
  return acceptor;
}

Task<void> accept_clients(Worker& worker, std::shared_ptr<Listener> listener) {
  AcceptLoop loop(worker, std::move(listener));
  co_await loop.run();
}

void close_listener(Worker& worker, std::shared_ptr<Listener> listener) {
  AcceptLoop(worker, std::move(listener)).close();
}

http::PortRanges connect_ports_of(const config::Security& security, const asio::ip::address& bound) {
  if (security.connect_ports) return *security.connect_ports;
  if (net::is_loopback(bound)) return {{1, 65535}};
  return {{443, 443}, {80, 80}, {8443, 8443}};
}

ListenerRole role_of(const config::Listener& listener, const config::Security& security,
                     const tcp::endpoint& bound) {
  ListenerRole role{listener, describe(word(listener.mode), bound),
                    connect_ports_of(security, bound.address())};
  role.reached_by_others = !net::is_loopback(bound.address());
  role.upstream_authority = role.mode().upstream_authority(listener);
  return role;
}

}  // namespace reprise::forward
