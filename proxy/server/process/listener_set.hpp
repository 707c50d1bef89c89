// The listeners of a process: bound for a configuration, kept for the next one where it has them too.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "proxy/forward/session/listen.hpp"

namespace reprise::server {

/// One address that is listened at, and its listener on every io thread; of the admin listener the acceptor
/// alone, which belongs to the first.
struct BoundListener {
  config::Endpoint wanted;             ///< as the configuration has it: port 0 stays port 0
  tcp::endpoint endpoint;              ///< where it is bound
  std::optional<tcp::acceptor> bound;  ///< until it is opened on the io threads
  std::vector<std::shared_ptr<forward::Listener>> on_threads;
  std::shared_ptr<tcp::acceptor> admin;
  bool is_admin = false;

  /// Lends its port to a listener that takes its place at another address, or has it back. On the first io
  /// thread, where it is opened.
  void lend(forward::Port);
};

/// The listeners of one configuration, in its order; the admin listener last, if there is one.
class ListenerSet {
 public:
  /// What `before` has at the same addresses is taken over, or else what `inherited` has, which leaves that
  /// list; the rest is bound, beside those of `before` that move. Nothing is accepted yet, and nothing of
  /// `before` is changed. Throws BindError, and then nothing stays bound that was not before.
  static ListenerSet bind(const config::Settings&, asio::io_context& binding, const ListenerSet* before,
                          std::vector<net::InheritedSocket>& inherited);
  /// Those whose port that configuration wants at another
  /// address alone: they have to lend it while it is bound.
  std::vector<std::shared_ptr<BoundListener>> moved_by(const config::Settings&) const;
  /// Gives every new one a socket on every io thread. Throws BindError where no descriptor is left.
  void open_on(const std::vector<std::unique_ptr<forward::Worker>>& workers);

  const std::vector<std::shared_ptr<BoundListener>>& all() const { return listeners_; }
  std::vector<tcp::endpoint> endpoints() const;
  bool has_admin() const { return !listeners_.empty() && listeners_.back()->is_admin; }
  /// Precondition: there is one.
  const BoundListener& admin() const { return *listeners_.back(); }
  /// True if that one is in this set, the very same.
  bool has(const BoundListener&) const;

 private:
  std::vector<std::shared_ptr<BoundListener>> listeners_;
};

}  // namespace reprise::server
