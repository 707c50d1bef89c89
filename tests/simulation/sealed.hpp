// Simulated TLS without cryptography, on top of a simulated connection (`Wire`). Handshakes can fail, a
// failed write may have been delivered, and a FIN may come without close_notify.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "proxy/net/tls/client_tls.hpp"
#include "tests/simulation/wire.hpp"

namespace reprise::simulation {

/// Behaviour of both sides of TLS after the handshake. Owns the link that carries the TLS.
class Sealed : public net::SecureLink {
 public:
  Sealed(std::unique_ptr<net::Link> wire, Faults& faults, Chance chance)
      : wire_(std::move(wire)), faults_(faults), chance_(std::move(chance)) {}

  ErrorCode failure() const override { return failure_; }
  std::string words() const override { return failure_.message(); }

  asio::any_io_executor executor() override { return wire_->executor(); }
  ReadTask read_some(asio::mutable_buffer) override;
  Task<ErrorCode> wait_readable() override { return wire_->wait_readable(); }
  Task<ErrorCode> wait_writable() override { return wire_->wait_writable(); }
  std::size_t write_some(std::span<const asio::const_buffer>, ErrorCode&) override;
  void cancel() override { wire_->cancel(); }
  void finish_sending() override { wire_->finish_sending(); }
  void close() override { wire_->close(); }
  void cut() override { wire_->cut(); }
  bool open() const override { return wire_->open(); }
  net::Unread unread() override { return wire_->unread(); }
  net::Presence presence() override { return wire_->presence(); }
  std::uint64_t unacknowledged() override { return wire_->unacknowledged(); }
  bool seems_dead(Duration since) override { return wire_->seems_dead(since); }

 protected:
  std::unique_ptr<net::Link> wire_;
  Faults& faults_;
  Chance chance_;
  ErrorCode failure_;
  bool broken_ = false;  ///< a write was reported as failed: all later reads and writes fail
};

/// The proxy's end of a TLS connection to an upstream. The outcome of its handshake is drawn at random.
class SealedLink final : public Sealed {
 public:
  SealedLink(std::unique_ptr<net::Link> wire, World& world, Faults& faults, Chance chance);

  net::Handshake shake_hands() override;
  Task<ErrorCode> wait_readable() override;
  void cancel() override;

 private:
  Task<ErrorCode> wait_for_flight();

  World& world_;
  net::Pause flight_;
  std::shared_ptr<char> alive_ = std::make_shared<char>();
  Duration takes_{};
  bool begun_ = false;
  bool silent_ = false;
  bool came_ = false;
  bool established_ = false;
};

/// The proxy's end of a TLS connection from a client. Exchanges the flights of the handshake with the
/// simulated client.
class SealedClientLink final : public Sealed {
 public:
  SealedClientLink(std::unique_ptr<net::Link> wire, Faults& faults, Chance chance)
      : Sealed(std::move(wire), faults, std::move(chance)) {}

  net::Handshake shake_hands() override;
  /// Never injects Fault::write_uncounted: as without TLS, a write to a client is lost only if the client
  /// leaves.
  std::size_t write_some(std::span<const asio::const_buffer> parts, ErrorCode& error) override {
    return wire_->write_some(parts, error);
  }
  ReadTask read_some(asio::mutable_buffer) override;
  Task<ErrorCode> wait_readable() override;
  net::Unread unread() override { return came_.empty() ? wire_->unread() : net::Unread::bytes; }

 private:
  net::Handshake fail(ErrorCode error);

  std::size_t answered_ = 0;  ///< bytes of the server's flight that were sent
  bool established_ = false;
  std::string came_;  ///< bytes read but not yet consumed; after the handshake: application data
};

/// Returns the client's first flight to an intercepted host. The server's flight and the client's second
/// flight follow.
std::string client_hello_to(std::string_view host);
inline constexpr std::string_view server_flight = "server hello, certificate, finished";
inline constexpr std::string_view client_flight = "finished";

/// Terminates clients' TLS for one host.
class SealingClients final : public net::ClientTls {
 public:
  SealingClients(std::string_view host, Faults& faults, Chance chance);
  const std::vector<policy::HostPattern>& hosts() const override { return hosts_; }
  Task<Accept> certificate_for(std::string name, asio::any_io_executor, std::string& why) override;

 private:
  std::vector<policy::HostPattern> hosts_;
  Faults& faults_;
  Chance chance_;
};

}  // namespace reprise::simulation
