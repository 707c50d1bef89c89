// A connection in memory. The proxy's end is a net::Link; the other end belongs to an actor of the story.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "proxy/net/io/link.hpp"
#include "proxy/net/io/pause.hpp"
#include "tests/simulation/fault.hpp"
#include "tests/simulation/world.hpp"

namespace reprise::simulation {

/// A client or upstream at the end of a wire.
class Actor {
 public:
  virtual ~Actor() = default;
  /// Called after bytes, a FIN or a reset have arrived, or after room to write has become free.
  virtual void look() = 0;
};

/// A connection in memory, shared by its two ends. Destroyed when both ends have released it.
class Wire : public std::enable_shared_from_this<Wire> {
 public:
  Wire(World& world, Faults& faults, Chance pieces);

  /// Sets the actor at the other end. Precondition: the actor outlives the wire, or calls attach(nullptr)
  /// first.
  void attach(Actor* actor) { actor_ = actor; }

  // The following functions are for the actor's end.
  std::string_view received() const { return to_actor_.bytes; }
  void consume(std::size_t bytes);
  /// Sends bytes. Returns how many of them the wire takes now.
  std::size_t send(std::string_view bytes);
  /// Sends all bytes at once, even if they exceed the free room.
  void send_whole(std::string_view bytes);
  void finish();
  void reset();
  /// Discards all later bytes from either end, without notice.
  void vanish();
  /// When the actor's host last acknowledged or sent something.
  Instant last_heard() const { return last_heard_; }
  /// Makes seems_dead() always return false.
  void deafen() { deaf_ = true; }
  bool proxy_finished() const { return to_actor_.finished; }
  bool was_reset() const { return reset_by_proxy_; }
  bool proxy_let_go() const { return proxy_closed_; }
  /// Returns true if the proxy has read all bytes that arrived.
  bool proxy_has_all() const { return to_proxy_.bytes.empty(); }
  bool has_vanished() const { return vanished_; }
  /// Marks the proxy's end as carrying TLS.
  void seal() { sealed_ = true; }
  bool sealed() const { return sealed_; }
  /// Returns true if the proxy has written something, or tried to.
  bool proxy_spoke() const { return proxy_spoke_; }
  /// Called at once when the proxy writes to the wire. `first`: first piece of the write. `taken`: number of
  /// bytes that the wire took from all pieces.
  using Offer = std::function<void(std::string_view first, std::size_t taken)>;
  void on_offer(Offer offer) { offer_ = std::move(offer); }
  /// Called for each write that is lost on its way to the actor, like Offer.
  using Swallow = Offer;
  void on_swallow(Swallow swallow) { swallow_ = std::move(swallow); }

 private:
  friend class WireLink;

  struct Pipe {
    std::string bytes;
    std::size_t room = 0;  ///< capacity in bytes
    bool finished = false;
  };

  void tell_actor();
  void tell_proxy();

  World& world_;
  Faults& faults_;
  Chance pieces_;
  Pipe to_actor_;
  Pipe to_proxy_;
  Actor* actor_ = nullptr;
  class WireLink* link_ = nullptr;
  bool actor_told_ = false;
  bool proxy_told_ = false;
  bool reset_by_actor_ = false;
  bool reset_by_proxy_ = false;
  bool proxy_closed_ = false;
  bool proxy_spoke_ = false;
  bool sealed_ = false;
  bool vanished_ = false;
  bool deaf_ = false;
  std::size_t swallowed_ = 0;             ///< lost bytes, which the proxy's kernel keeps retransmitting
  std::optional<Instant> unheard_since_;  ///< when the first lost byte was sent
  Instant last_heard_{};
  Offer offer_;
  Swallow swallow_;
};

/// Decides the outcome of each dial.
class Dials {
 public:
  struct Result {
    ErrorCode error;
    Duration after{};
    bool silent = false;  ///< the dial never gets a reply
  };
  virtual ~Dials() = default;
  virtual Result dial(const tcp::endpoint&) = 0;
  /// Called when the proxy gets to know that a dial has failed.
  virtual void failed(const tcp::endpoint&) = 0;
  /// Returns the wire of a connection that was just established.
  virtual std::shared_ptr<Wire> connected(const tcp::endpoint&) = 0;
};

/// The proxy's end of a wire.
class WireLink final : public net::Link {
 public:
  WireLink(const asio::any_io_executor& executor, World& world, Dials& dials);
  WireLink(const asio::any_io_executor& executor, World& world, std::shared_ptr<Wire> wire);
  ~WireLink() override;

  asio::any_io_executor executor() override { return executor_; }
  Task<ErrorCode> connect(const tcp::endpoint&) override;
  ReadTask read_some(asio::mutable_buffer) override;
  std::size_t read_now(asio::mutable_buffer, ErrorCode&) override;
  Task<ErrorCode> wait_readable() override;
  Task<ErrorCode> wait_writable() override;
  std::size_t write_some(std::span<const asio::const_buffer>, ErrorCode&) override;
  void cancel() override;
  void finish_sending() override;
  void close() override;
  void cut() override;
  bool open() const override { return wire_ != nullptr && !closed_; }
  net::Unread unread() override;
  net::Presence presence() override;
  std::uint64_t unacknowledged() override;
  bool seems_dead(Duration since) override;

  /// Marks the wire as carrying TLS.
  void seal() { wire_->seal(); }
  /// Resumes waiting reads and writes that are possible now. Called when the wire has changed.
  void wake();
  /// Returns the number of existing links in all stories on this thread.
  static std::int64_t standing() { return standing_; }

 private:
  bool readable() const;
  bool writable() const;
  std::size_t swallow(std::span<const asio::const_buffer>, ErrorCode&);

  asio::any_io_executor executor_;
  World& world_;
  Dials* dials_ = nullptr;
  std::shared_ptr<Wire> wire_;
  net::Pause reading_;
  net::Pause writing_;
  std::shared_ptr<char> alive_ = std::make_shared<char>();
  bool waits_to_read_ = false;
  bool waits_to_write_ = false;
  bool may_read_ = false;
  bool may_write_ = false;
  bool closed_ = false;
  static thread_local std::int64_t standing_;
};

}  // namespace reprise::simulation
