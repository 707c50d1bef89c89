// The upstream that fails as the plan says: three listening ports,
// and every request played from its number and attempt.
#pragma once

#include <boost/asio/io_context.hpp>
#include <optional>

#include "tests/soak/ledger.hpp"
#include "tests/soak/wire.hpp"

namespace reprise::soak {

class Upstream {
 public:
  Upstream(asio::io_context& io, Ledger& ledger);
  /// Starts to listen, and goes on until `stop`.
  void start();
  void stop();
  std::uint16_t port(Listener listener) const;
  /// Times that the flapping port was closed.
  std::uint64_t flaps() const { return flaps_; }

 private:
  Task<void> accept(tcp::acceptor& acceptor);
  Task<void> flap();
  Task<void> accept_tunnels();

  asio::io_context& io_;
  Ledger& ledger_;
  tcp::acceptor steady_;
  tcp::acceptor tunnel_;
  tcp::acceptor holder_;  ///< bound and not listening: keeps the flapping port ours while nobody listens
  std::uint16_t flapping_port_ = 0;
  std::uint64_t flaps_ = 0;
  std::uint64_t connections_ = 0;
  bool stopping_ = false;
};

}  // namespace reprise::soak
