// Listening sockets: each is bound once, and every io thread accepts through a duplicate of its descriptor.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "proxy/forward/session/session.hpp"
#include "proxy/net/systemd/inherited_sockets.hpp"

namespace reprise::forward {

/// Reports which listener cannot be bound, and why. The program then exits with code 69.
class BindError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Returns mode and address, such as `forward 127.0.0.1:3128`.
std::string describe(std::string_view mode, const tcp::endpoint&);
std::string_view word(config::ListenerMode);

/// `own`: one listener of this process uses the port. `lent`: several listeners of this process use the port,
/// at overlapping addresses.
enum class Port : std::uint8_t { own, lent };

/// Binds and listens with SO_REUSEADDR. Throws BindError. Sets SO_REUSEPORT only if the port is `lent`, and
/// only during the bind, because SO_REUSEPORT would hide that a port is in use.
tcp::acceptor bind_listener(asio::io_context&, std::string_view mode, const config::Endpoint&,
                            Port port = Port::own);
/// `lent`: sets SO_REUSEPORT, so that another listener of this process can bind the port. `own`: clears
/// SO_REUSEPORT. Does nothing if the acceptor is closed.
void lend_port(tcp::acceptor&, Port);
/// Removes and returns the socket in `inherited` that listens on that endpoint. If there is none, calls
/// `bind_listener`.
tcp::acceptor take_or_bind(asio::io_context&, std::string_view mode, const config::Endpoint&,
                           std::vector<net::InheritedSocket>& inherited, Port port = Port::own);
/// Returns an acceptor on the same socket for another io thread.
tcp::acceptor duplicate(asio::io_context&, tcp::acceptor&);

/// Spawns a session for each connection until the acceptor is closed. If connections or descriptors run out,
/// closes a client of this io thread: a client that has sent a FIN, or else the client that has been idle
/// longest, provided that it has been idle for at least a second. If there is no such client, sends 503 with
/// Retry-After to the new client and closes its connection (row I6). Never spins.
Task<void> accept_clients(Worker& worker, std::shared_ptr<Listener> listener);
/// Closes the listener on this io thread, after accepting the connections that are already waiting.
void close_listener(Worker& worker, std::shared_ptr<Listener> listener);

/// Returns the ports that CONNECT may reach through a listener at that address. If the configuration says
/// `auto` and only this host reaches the listener, all ports are allowed, because local clients could also
/// connect directly. If other hosts reach the listener, `auto` allows 443, 80 and 8443.
http::PortRanges connect_ports_of(const config::Security&, const asio::ip::address& bound);
/// Returns the settings for sessions of that listener. The endpoint is the address to which the listener is
/// bound.
ListenerRole role_of(const config::Listener&, const config::Security&, const tcp::endpoint&);

}  // namespace reprise::forward
