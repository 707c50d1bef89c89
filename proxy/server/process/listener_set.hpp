// The listeners of a process: bound for one configuration, and reused by the next one if their addresses stay
// the same.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "proxy/forward/session/listen.hpp"

namespace reprise::server {

/// One listening address, with its listener on every io thread. The admin listener has only an acceptor, on
/// the first io thread.
struct BoundListener {
  config::Endpoint wanted;             ///< as configured: port 0 stays port 0
  tcp::endpoint endpoint;              ///< actual address
  std::optional<tcp::acceptor> bound;  ///< set until the listener is opened on the io threads
  std::vector<std::shared_ptr<forward::Listener>> on_threads;
  std::shared_ptr<tcp::acceptor> admin;
  bool is_admin = false;

  /// Lends the port, so that a listener at another address can bind it, or takes the port back. Call on the
  /// first io thread, where this listener is opened.
  void lend(forward::Port);
};

/// The listeners of one configuration, in its order; the admin listener is last, if there is one.
class ListenerSet {
 public:
  /// Makes the listeners for a configuration: reuses the listener of `before` at the same address, or takes a
  /// socket out of `inherited`, or binds a new socket. If a listener of `before` uses the same port at
  /// another address, that listener must have lent the port (see moved_by). Accepts no connections yet, and
  /// does not change `before`. Throws BindError after closing all sockets that this call has bound.
  static ListenerSet bind(const config::Settings&, asio::io_context& binding, const ListenerSet* before,
                          std::vector<net::InheritedSocket>& inherited);
  /// Returns the listeners that the given configuration moves: same port, another address. Call `lend` on
  /// each of them while the replacement is bound.
  std::vector<std::shared_ptr<BoundListener>> moved_by(const config::Settings&) const;
  /// Opens every new listener on every io thread. Throws BindError if no descriptor is left.
  void open_on(const std::vector<std::unique_ptr<forward::Worker>>& workers);

  const std::vector<std::shared_ptr<BoundListener>>& all() const { return listeners_; }
  std::vector<tcp::endpoint> endpoints() const;
  bool has_admin() const { return !listeners_.empty() && listeners_.back()->is_admin; }
  /// Returns the admin listener. Precondition: there is one.
  const BoundListener& admin() const { return *listeners_.back(); }
  /// Returns true if the set contains the given object itself, and not only an equal one.
  bool has(const BoundListener&) const;

 private:
  std::vector<std::shared_ptr<BoundListener>> listeners_;
};

}  // namespace reprise::server
