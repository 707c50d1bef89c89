#include "tests/simulation/wire.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace reprise::simulation {

namespace errors = asio::error;

thread_local std::int64_t WireLink::standing_ = 0;

Wire::Wire(World& world, Faults& faults, Chance pieces)
    : world_(world), faults_(faults), pieces_(std::move(pieces)) {
  to_actor_.room = pieces_.pick<std::size_t>({1 << 10, 4 << 10, 64 << 10});
  to_proxy_.room = pieces_.pick<std::size_t>({1 << 10, 4 << 10, 64 << 10});
}

void Wire::tell_actor() {
  if (actor_told_) return;
  actor_told_ = true;
  world_.soon([self = shared_from_this()] {
    self->actor_told_ = false;
    if (self->actor_ != nullptr) self->actor_->look();
  });
}

void Wire::tell_proxy() {
  if (proxy_told_) return;
  proxy_told_ = true;
  world_.soon([self = shared_from_this()] {
    self->proxy_told_ = false;
    if (self->link_ != nullptr) self->link_->wake();
  });
}

void Wire::consume(std::size_t bytes) {
  to_actor_.bytes.erase(0, bytes);
  tell_proxy();
}

std::size_t Wire::send(std::string_view bytes) {
  if (proxy_closed_ || reset_by_proxy_ || to_proxy_.finished || reset_by_actor_ || vanished_)
    return bytes.size();
  last_heard_ = world_.now();
  const std::size_t taken =
      std::min(bytes.size(), to_proxy_.room - std::min(to_proxy_.room, to_proxy_.bytes.size()));
  to_proxy_.bytes.append(bytes.substr(0, taken));
  if (taken > 0) tell_proxy();
  return taken;
}

void Wire::send_whole(std::string_view bytes) {
  const std::size_t room = std::exchange(to_proxy_.room, to_proxy_.bytes.size() + bytes.size());
  send(bytes);
  to_proxy_.room = room;
}

void Wire::finish() {
  if (vanished_) return;
  to_proxy_.finished = true;
  tell_proxy();
}

// The kernel may still deliver the bytes that came before the reset, or discard them.
void Wire::reset() {
  if (reset_by_actor_ || vanished_) return;
  reset_by_actor_ = true;
  if (pieces_.one_in(2)) to_proxy_.bytes.clear();
  to_actor_.bytes.clear();
  tell_proxy();
}

void Wire::vanish() { vanished_ = true; }

WireLink::WireLink(const asio::any_io_executor& executor, World& world, Dials& dials)
    : executor_(executor), world_(world), dials_(&dials), reading_(executor), writing_(executor) {
  ++standing_;
}

WireLink::WireLink(const asio::any_io_executor& executor, World& world, std::shared_ptr<Wire> wire)
    : executor_(executor), world_(world), wire_(std::move(wire)), reading_(executor), writing_(executor) {
  wire_->link_ = this;
  ++standing_;
}

WireLink::~WireLink() {
  close();
  --standing_;
}

bool WireLink::readable() const {
  return wire_->reset_by_actor_ || wire_->to_proxy_.finished || !wire_->to_proxy_.bytes.empty();
}

bool WireLink::writable() const {
  if (wire_->vanished_) return wire_->swallowed_ < wire_->to_actor_.room;
  return wire_->reset_by_actor_ || wire_->to_actor_.bytes.size() < wire_->to_actor_.room;
}

void WireLink::wake() {
  if (waits_to_read_ && readable()) {
    may_read_ = true;
    reading_.cancel();
  }
  if (waits_to_write_ && writable()) {
    may_write_ = true;
    writing_.cancel();
  }
}

Task<ErrorCode> WireLink::connect(const tcp::endpoint& endpoint) {
  const tcp::endpoint target = endpoint;
  const Dials::Result result = dials_->dial(target);
  waits_to_write_ = true;
  may_write_ = false;
  if (!result.silent) {
    world_.after(result.after, [this, alive = std::weak_ptr<char>(alive_)] {
      if (alive.expired() || !waits_to_write_) return;
      may_write_ = true;
      writing_.cancel();
    });
  }
  co_await writing_.until(Instant::max());
  waits_to_write_ = false;
  if (!may_write_) co_return errors::operation_aborted;
  if (result.error) {
    dials_->failed(target);
    co_return result.error;
  }
  wire_ = dials_->connected(target);
  wire_->link_ = this;
  co_return ErrorCode();
}

// Waits for at least one step of the World, as a socket waits for at least one turn of the event loop.
Task<ErrorCode> WireLink::wait_readable() {
  if (closed_) co_return errors::bad_descriptor;
  waits_to_read_ = true;
  may_read_ = false;
  if (readable()) wire_->tell_proxy();
  co_await reading_.until(Instant::max());
  waits_to_read_ = false;
  if (!may_read_) co_return errors::operation_aborted;
  co_return ErrorCode();
}

ReadTask WireLink::read_some(asio::mutable_buffer into) {
  if (const ErrorCode error = co_await wait_readable()) co_return std::tuple(error, std::size_t{0});
  ErrorCode error;
  const std::size_t count = read_now(into, error);
  co_return std::tuple(error, count);
}

std::size_t WireLink::read_now(asio::mutable_buffer into, ErrorCode& error) {
  std::string& bytes = wire_->to_proxy_.bytes;
  if (bytes.empty()) {
    error = wire_->reset_by_actor_      ? ErrorCode(errors::connection_reset)
            : wire_->to_proxy_.finished ? ErrorCode(errors::eof)
                                        : ErrorCode(errors::would_block);
    return 0;
  }
  std::size_t count = std::min(bytes.size(), into.size());
  if (wire_->pieces_.one_in(4)) count = wire_->pieces_.between(1, count);
  std::memcpy(into.data(), bytes.data(), count);
  bytes.erase(0, count);
  world_.note(count);
  wire_->tell_actor();
  return count;
}

Task<ErrorCode> WireLink::wait_writable() {
  if (closed_) co_return errors::bad_descriptor;
  waits_to_write_ = true;
  may_write_ = false;
  if (writable()) wire_->tell_proxy();
  co_await writing_.until(Instant::max());
  waits_to_write_ = false;
  co_return may_write_ ? ErrorCode() : ErrorCode(errors::operation_aborted);
}

std::size_t WireLink::write_some(std::span<const asio::const_buffer> parts, ErrorCode& error) {
  if (closed_) {
    error = errors::bad_descriptor;
    return 0;
  }
  wire_->proxy_spoke_ = true;
  if (wire_->vanished_) return swallow(parts, error);
  if (wire_->reset_by_actor_) {
    error = wire_->pieces_.one_in(2) ? ErrorCode(errors::connection_reset) : ErrorCode(errors::broken_pipe);
    return 0;
  }
  std::string& bytes = wire_->to_actor_.bytes;
  std::size_t room = wire_->to_actor_.room - std::min(wire_->to_actor_.room, bytes.size());
  if (wire_->faults_.plays(Fault::write_short, room > 0 && wire_->pieces_.one_in(8)))
    room = wire_->pieces_.between(1, room);
  std::size_t taken = 0;
  for (const auto& part : parts) {
    const std::size_t count = std::min(part.size(), room - taken);
    bytes.append(static_cast<const char*>(part.data()), count);
    taken += count;
  }
  if (taken == 0) {
    error = errors::would_block;
  } else {
    world_.note(taken);
    wire_->last_heard_ = world_.now();
    const Wire::Offer offer = wire_->offer_;  // the actor may replace it
    if (offer) offer({static_cast<const char*>(parts.front().data()), parts.front().size()}, taken);
    wire_->tell_actor();
  }
  return taken;
}

// Takes as many bytes as fit into the kernel's buffer. The bytes never arrive, so the buffer never becomes
// free.
std::size_t WireLink::swallow(std::span<const asio::const_buffer> parts, ErrorCode& error) {
  const std::size_t room = wire_->to_actor_.room - std::min(wire_->to_actor_.room, wire_->swallowed_);
  std::size_t taken = 0;
  for (const auto& part : parts) taken += std::min(part.size(), room - taken);
  if (taken == 0) {
    error = errors::would_block;
    return 0;
  }
  world_.note(taken);
  wire_->swallowed_ += taken;
  if (!wire_->unheard_since_) wire_->unheard_since_ = world_.now();
  if (wire_->swallow_)
    wire_->swallow_({static_cast<const char*>(parts.front().data()), parts.front().size()}, taken);
  return taken;
}

// Models is_dead_peer(): the peer seems dead after two retransmissions, the second of which is sent 1.2
// seconds after the first lost byte.
bool WireLink::seems_dead(Duration since) {
  constexpr Duration sent_again_twice = std::chrono::milliseconds(1200);
  if (closed_ || !wire_->unheard_since_ || wire_->deaf_) return false;
  const Instant now = world_.now();
  return now - *wire_->unheard_since_ >= sent_again_twice && wire_->last_heard_ <= now - since;
}

void WireLink::cancel() {
  if (waits_to_read_) reading_.cancel();
  if (waits_to_write_) writing_.cancel();
}

void WireLink::finish_sending() {
  if (closed_ || wire_ == nullptr) return;
  wire_->to_actor_.finished = true;
  wire_->tell_actor();
}

// Closes like the kernel: if bytes are unread, the close becomes a reset.
void WireLink::close() {
  if (closed_) return;
  cancel();
  closed_ = true;
  if (wire_ == nullptr) return;
  if (!wire_->to_proxy_.bytes.empty()) wire_->reset_by_proxy_ = true;
  wire_->to_actor_.finished = true;
  wire_->proxy_closed_ = true;
  wire_->link_ = nullptr;
  wire_->tell_actor();
}

void WireLink::cut() {
  if (closed_) return;
  if (wire_ != nullptr) {
    wire_->reset_by_proxy_ = true;
    if (wire_->pieces_.one_in(2)) wire_->to_actor_.bytes.clear();
  }
  close();
}

net::Unread WireLink::unread() {
  if (closed_ || wire_->reset_by_actor_) return net::Unread::closed;
  if (!wire_->to_proxy_.bytes.empty()) return net::Unread::bytes;
  return wire_->to_proxy_.finished ? net::Unread::closed : net::Unread::nothing;
}

// Counts every byte that the other end (the actor) has not read: here, its kernel acknowledges only read
// bytes.
std::uint64_t WireLink::unacknowledged() {
  return wire_ == nullptr ? 0 : wire_->to_actor_.bytes.size() + wire_->swallowed_;
}

net::Presence WireLink::presence() {
  if (closed_ || wire_->reset_by_actor_) return net::Presence::reset;
  return wire_->to_proxy_.finished ? net::Presence::finished : net::Presence::present;
}

}  // namespace reprise::simulation
