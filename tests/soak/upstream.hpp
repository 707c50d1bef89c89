// The upstream, which fails as the plan says. It has three ports. The request's number and attempt decide how
// the upstream treats the request.
#pragma once

#include <boost/asio/io_context.hpp>
#include <optional>

#include "tests/soak/ledger.hpp"
#include "tests/soak/wire.hpp"

namespace reprise::soak {

class Upstream {
 public:
  Upstream(asio::io_context& io, Ledger& ledger);
  /// Listens until stop() is called.
  void start();
  void stop();
  std::uint16_t port(Listener listener) const;
  /// Returns how often the flapping port was closed.
  std::uint64_t flaps() const { return flaps_; }

 private:
  Task<void> accept(tcp::acceptor& acceptor);
  Task<void> flap();
  Task<void> accept_tunnels();

  asio::io_context& io_;
  Ledger& ledger_;
  tcp::acceptor steady_;
  tcp::acceptor tunnel_;
  tcp::acceptor holder_;  ///< bound but not listening: reserves the flapping port while it is closed
  std::uint16_t flapping_port_ = 0;
  std::uint64_t flaps_ = 0;
  std::uint64_t connections_ = 0;
  bool stopping_ = false;
};

}  // namespace reprise::soak
