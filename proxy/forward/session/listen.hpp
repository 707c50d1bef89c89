// Listening sockets: bound once, accepted from by every io thread through duplicates of one descriptor.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "proxy/forward/session/session.hpp"
#include "proxy/net/systemd/inherited_sockets.hpp"

namespace reprise::forward {

/// A listener that cannot be bound; says which, and why. Exit code 69.
class BindError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// "forward 127.0.0.1:3128"
std::string describe(std::string_view mode, const tcp::endpoint&);
std::string_view word(config::ListenerMode);

/// Whose a port is: a listener's alone, or lent by one to another of ours, at an address that overlaps.
enum class Port : std::uint8_t { own, lent };

/// Binds and listens. SO_REUSEADDR but not SO_REUSEPORT, which would hide a port in use; to bind to a port
/// that is lent that one, too, until it is bound. Throws BindError.
tcp::acceptor bind_listener(asio::io_context&, std::string_view mode, const config::Endpoint&,
                            Port port = Port::own);
/// Lends the acceptor's port, or has it for itself again. Nothing where it is closed.
void lend_port(tcp::acceptor&, Port);
/// The one of `inherited` that listens there, which leaves the list; else as `bind_listener`.
tcp::acceptor take_or_bind(asio::io_context&, std::string_view mode, const config::Endpoint&,
                           std::vector<net::InheritedSocket>& inherited, Port port = Port::own);
/// The same socket for another io thread.
tcp::acceptor duplicate(asio::io_context&, tcp::acceptor&);

/// Spawns a session per connection until the acceptor is closed. Where connections or descriptors run short,
/// the client that has rested longest makes room (of this io thread, and for a second at least); where none
/// does, the new one gets a 503 with Retry-After and is closed (row I6). Never spins.
Task<void> accept_clients(Worker& worker, std::shared_ptr<Listener> listener);
/// Closes it on this io thread, which takes the clients that have come until then.
void close_listener(Worker& worker, std::shared_ptr<Listener> listener);

/// Where CONNECT may go through a listener at that address. `auto`: any port where only this host reaches it,
/// for its clients could dial themselves; else 443, 80 and 8443.
http::PortRanges connect_ports_of(const config::Security&, const asio::ip::address& bound);
/// What sessions of that listener are told, which is bound there.
ListenerRole role_of(const config::Listener&, const config::Security&, const tcp::endpoint&);

}  // namespace reprise::forward
