#include "tests/simulation/sealed.hpp"

#include <array>
#include <utility>

#include "proxy/net/io/tls_error.hpp"
#include "tests/support/client_hello.hpp"

namespace reprise::simulation {

using net::Handshake;
namespace errors = asio::error;

SealedLink::SealedLink(std::unique_ptr<net::Link> wire, World& world, Faults& faults, Chance chance)
    : Sealed(std::move(wire), faults, std::move(chance)), world_(world), flight_(wire_->executor()) {}

// Plays one round trip, then the drawn outcome.
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

Task<ErrorCode> SealedLink::wait_for_flight() {
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

Task<ErrorCode> SealedLink::wait_readable() {
  return established_ ? wire_->wait_readable() : wait_for_flight();
}

ReadTask Sealed::read_some(asio::mutable_buffer into) {
  if (broken_) co_return std::tuple(ErrorCode(errors::connection_reset), std::size_t{0});
  auto [error, bytes] = co_await wire_->read_some(into);
  if (error == errors::eof && faults_.plays(Fault::fin_without_notice, chance_.one_in(4)))
    error = net::TlsError::no_close_notify;
  co_return std::tuple(error, bytes);
}

// May report a failure although the bytes were sent.
std::size_t Sealed::write_some(std::span<const asio::const_buffer> parts, ErrorCode& error) {
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

Handshake SealedClientLink::fail(ErrorCode error) {
  failure_ = error;
  return Handshake::failed;
}

// Sends the server's flight, then waits for the client's second flight. Precondition: the ClientHello was
// read before.
Handshake SealedClientLink::shake_hands() {
  while (answered_ < server_flight.size()) {
    const asio::const_buffer rest = asio::buffer(server_flight.substr(answered_));
    ErrorCode error;
    answered_ += wire_->write_some({&rest, 1}, error);
    if (error == errors::would_block) return Handshake::wants_write;
    if (error) return fail(error);
  }
  while (came_.size() < client_flight.size()) {
    std::array<char, 4096> bytes;
    ErrorCode error;
    const std::size_t count = wire_->read_now(asio::buffer(bytes), error);
    if (error == errors::would_block) return Handshake::wants_read;
    if (error) return fail(error);
    came_.append(bytes.data(), count);
  }
  if (!came_.starts_with(client_flight)) return fail(net::TlsError::protocol);
  came_.erase(0, client_flight.size());
  established_ = true;
  return Handshake::done;
}

Task<ErrorCode> SealedClientLink::wait_readable() {
  if (!established_ || came_.empty()) co_return co_await wire_->wait_readable();
  co_return ErrorCode();
}

ReadTask SealedClientLink::read_some(asio::mutable_buffer into) {
  if (came_.empty()) return Sealed::read_some(into);
  return [](std::string& came, asio::mutable_buffer place) -> ReadTask {
    const std::size_t count = asio::buffer_copy(place, asio::buffer(came));
    came.erase(0, count);
    co_return std::tuple(ErrorCode(), count);
  }(came_, into);
}

std::string client_hello_to(std::string_view host) {
  using play::extension;
  using play::vector;
  const std::string name = extension(0, vector(std::string(1, '\0') + vector(host, 2), 2));
  const std::string protocols = extension(16, vector(vector("h2", 1) + vector("http/1.1", 1), 2));
  return play::record(play::hello_message(name + protocols));
}

SealingClients::SealingClients(std::string_view host, Faults& faults, Chance chance)
    : hosts_({policy::HostPattern{std::string(host)}}), faults_(faults), chance_(std::move(chance)) {}

Task<net::ClientTls::Accept> SealingClients::certificate_for(std::string, asio::any_io_executor,
                                                             std::string&) {
  co_return [this](net::Carrier carrier, std::string, net::Protocol) -> std::unique_ptr<net::SecureLink> {
    return std::make_unique<SealedClientLink>(std::get<std::unique_ptr<net::Link>>(std::move(carrier)),
                                              faults_, chance_);
  };
}

}  // namespace reprise::simulation
