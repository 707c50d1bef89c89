// TLS as the simulation plays it: a link over a wire whose handshake can fail, whose failed writes may have
// been read, and whose FIN may come without a notice. No cryptography.
#pragma once

#include <memory>

#include "tests/simulation/wire.hpp"

namespace reprise::simulation {

/// The proxy's end of a connection over TLS. Owns the link below.
class SealedLink final : public net::SecureLink {
 public:
  SealedLink(std::unique_ptr<net::Link> wire, World& world, Faults& faults, Chance chance);

  net::Handshake shake_hands() override;
  net::ErrorCode failure() const override { return failure_; }
  std::string words() const override { return failure_.message(); }

  net::asio::any_io_executor executor() override { return wire_->executor(); }
  net::ReadTask read_some(net::asio::mutable_buffer) override;
  net::Task<net::ErrorCode> wait_readable() override;
  net::Task<net::ErrorCode> wait_writable() override { return wire_->wait_writable(); }
  std::size_t write_some(std::span<const net::asio::const_buffer>, net::ErrorCode&) override;
  void cancel() override;
  void finish_sending() override { wire_->finish_sending(); }
  void close() override { wire_->close(); }
  void cut() override { wire_->cut(); }
  bool open() const override { return wire_->open(); }
  net::Unread unread() override { return wire_->unread(); }
  net::Presence presence() override { return wire_->presence(); }
  net::Outflow outflow() override { return wire_->outflow(); }
  bool unheard(Duration since) override { return wire_->unheard(since); }

 private:
  net::Task<net::ErrorCode> wait_for_flight();

  std::unique_ptr<net::Link> wire_;
  World& world_;
  Faults& faults_;
  Chance chance_;
  net::Pause flight_;
  std::shared_ptr<char> alive_ = std::make_shared<char>();
  net::ErrorCode failure_;
  Duration takes_{};
  bool begun_ = false;
  bool silent_ = false;
  bool came_ = false;
  bool established_ = false;
  bool broken_ = false;  ///< a write was lost: nothing works any more
};

}  // namespace reprise::simulation
