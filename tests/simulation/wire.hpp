// A connection in memory: the proxy's end of it is a net::Link,
// the other end belongs to an actor of the story.
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

/// What an actor is told by its wire: something has changed, it may look.
class Actor {
 public:
  virtual ~Actor() = default;
  /// Bytes, a FIN or a reset have come, or there is room to write again.
  virtual void look() = 0;
};

/// Shared by its two ends; lives until both have let go.
class Wire : public std::enable_shared_from_this<Wire> {
 public:
  Wire(World& world, Faults& faults, Chance pieces);

  /// The actor must outlive the wire, or take itself off.
  void attach(Actor* actor) { actor_ = actor; }

  // The actor's end.
  std::string_view received() const { return to_actor_.bytes; }
  void consume(std::size_t bytes);
  /// What the wire takes of it now.
  std::size_t send(std::string_view bytes);
  /// All of it at once, be there room or not.
  void send_whole(std::string_view bytes);
  void finish();
  void reset();
  /// From now on whatever either end sends is swallowed without a word.
  void vanish();
  /// When the actor's host last acknowledged or sent something.
  Instant last_heard() const { return last_heard_; }
  /// Nobody ever finds out that nothing is acknowledged.
  void deafen() { deaf_ = true; }
  bool proxy_finished() const { return to_actor_.finished; }
  bool was_reset() const { return reset_by_proxy_; }
  bool proxy_let_go() const { return proxy_closed_; }
  /// The proxy's end of it carries TLS.
  void seal() { sealed_ = true; }
  bool sealed() const { return sealed_; }
  /// The proxy has sent something, or tried to.
  bool proxy_spoke() const { return proxy_spoke_; }
  /// Told of all that the proxy puts on the wire, at once: the first piece that it gave, and how much of all
  /// pieces was taken.
  using Offer = std::function<void(std::string_view first, std::size_t taken)>;
  void on_offer(Offer offer) { offer_ = std::move(offer); }
  /// Told of the first piece of whatever is swallowed on its way to the actor.
  using Swallow = std::function<void(std::string_view first)>;
  void on_swallow(Swallow swallow) { swallow_ = std::move(swallow); }

 private:
  friend class WireLink;

  struct Pipe {
    std::string bytes;
    std::size_t room = 0;  ///< what it holds at most
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
  std::size_t swallowed_ = 0;             ///< bytes that the proxy's kernel keeps sending
  std::optional<Instant> unheard_since_;  ///< when the first of them was sent
  Instant last_heard_{};
  Offer offer_;
  Swallow swallow_;
};

/// Who decides what becomes of a dial.
class Dials {
 public:
  struct Result {
    ErrorCode error;
    Duration after{};
    bool silent = false;  ///< never answered
  };
  virtual ~Dials() = default;
  virtual Result dial(const tcp::endpoint&) = 0;
  /// The connection is there: whose end is the other one?
  virtual std::shared_ptr<Wire> connected(const tcp::endpoint&) = 0;
};

/// The proxy's end.
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

  /// It carries TLS from here on.
  void seal() { wire_->seal(); }
  /// The wire has changed.
  void wake();
  /// Links that stand, of all stories on this thread.
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
