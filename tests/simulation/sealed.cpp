#include "tests/simulation/sealed.hpp"

#include <utility>

#include "proxy/io/tls_error.hpp"

namespace reprise::simulation {

using net::ErrorCode;
using net::Handshake;
namespace errors = net::asio::error;

SealedLink::SealedLink(std::unique_ptr<net::Link> wire, World& world, Faults& faults, Chance chance)
    : wire_(std::move(wire)),
      world_(world),
      faults_(faults),
      chance_(std::move(chance)),
      flight_(wire_->executor()) {}

// One round trip, and what was drawn for its end.
Handshake SealedLink::shake_hands() {
  if (!begun_) {
    begun_ = true;
    takes_ = std::chrono::microseconds(chance_.between(20, 900));
    silent_ = faults_.plays(Fault::handshake_silent, chance_.one_in(12));
    return Handshake::wants_read;
  }
  const bool fin = chance_.one_in(2);
  if (wire_->presence() == net::Presence::reset) {
    failure_ = errors::connection_reset;
  } else if (faults_.plays(Fault::handshake_cut, chance_.one_in(8))) {
    failure_ = fin ? ErrorCode(net::TlsError::no_close_notify) : ErrorCode(errors::connection_reset);
  } else if (faults_.plays(Fault::handshake_junk, chance_.one_in(16))) {
    failure_ = net::TlsError::protocol;
  } else if (faults_.plays(Fault::certificate_bad, chance_.one_in(16))) {
    failure_ = net::TlsError::certificate;
  } else {
    established_ = true;
  }
  return established_ ? Handshake::done : Handshake::failed;
}

net::Task<ErrorCode> SealedLink::wait_for_flight() {
  if (!silent_) {
    world_.after(takes_, [this, alive = std::weak_ptr<char>(alive_)] {
      if (alive.expired()) return;
      came_ = true;
      flight_.cancel();
    });
  }
  co_await flight_.until(Instant::max());
  co_return came_ ? ErrorCode() : ErrorCode(errors::operation_aborted);
}

net::Task<ErrorCode> SealedLink::wait_readable() {
  return established_ ? wire_->wait_readable() : wait_for_flight();
}

net::ReadTask SealedLink::read_some(net::asio::mutable_buffer into) {
  if (broken_) co_return std::tuple(ErrorCode(errors::connection_reset), std::size_t{0});
  auto [error, bytes] = co_await wire_->read_some(into);
  if (error == errors::eof && faults_.plays(Fault::fin_without_notice, chance_.one_in(4)))
    error = net::TlsError::no_close_notify;
  co_return std::tuple(error, bytes);
}

// What was sealed has left, and the count of it is lost.
std::size_t SealedLink::write_some(std::span<const net::asio::const_buffer> parts, ErrorCode& error) {
  if (broken_) {
    error = errors::broken_pipe;
    return 0;
  }
  const std::size_t taken = wire_->write_some(parts, error);
  if (taken == 0 || !faults_.plays(Fault::write_uncounted, chance_.one_in(16))) return taken;
  broken_ = true;
  error = errors::connection_reset;
  return 0;
}

void SealedLink::cancel() {
  if (!established_) flight_.cancel();
  wire_->cancel();
}

}  // namespace reprise::simulation
