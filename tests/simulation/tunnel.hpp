// The two ends of a tunnel: a client that asks with CONNECT, and a server that never sees HTTP.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "tests/simulation/book.hpp"
#include "tests/simulation/wire.hpp"

namespace reprise::simulation {

/// A story has one tunnel at most.
inline constexpr std::uint64_t tunnel_id = 500;
/// And one request in it, where it carries plain HTTP.
inline constexpr std::uint64_t inside_id = 501;
inline constexpr std::string_view tunnel_host = "tunnel.test";
inline constexpr std::uint16_t tunnel_port = 8443;

/// What one end of a tunnel sends, and how it ends.
struct TunnelEndPlan {
  std::string opening;       ///< goes before the bytes
  bool hears_first = false;  ///< says nothing before the other end has
  Duration silence{};        ///< before its first byte
  std::uint64_t bytes = 0;

  std::uint64_t all() const { return opening.size() + bytes; }
  std::optional<std::uint64_t> resets_after;  ///< bytes sent
  Duration pause{};                           ///< between pieces
};

struct TunnelPlan {
  RequestPlan request;  ///< `host` names the server; there is no body
  TunnelEndPlan client;
  TunnelEndPlan server;
  /// What the client asks for in HTTP, instead of all that: behind a handshake where it is `terminated`.
  std::optional<RequestPlan> inside;
  bool stays_silent = false;  ///< the client never ends its handshake
  std::uint64_t early = 0;    ///< how many of the client's bytes come with its head
};

/// What one end has seen so far.
struct TunnelSeen {
  std::uint64_t received = 0;
  bool finished = false;  ///< by the other end
  bool reset = false;
  Instant ours{};    ///< when this end had sent all
  Instant theirs{};  ///< when it heard that the other end had
};

/// Sends its bytes, takes those of the other end, and closes its side when it has sent all.
class TunnelEnd : public Actor {
 public:
  /// `other` is the plan of the other end; `sends` and `takes` tell the two directions apart.
  TunnelEnd(World& world, Book& book, std::uint64_t id, TunnelEndPlan plan, TunnelEndPlan other,
            std::shared_ptr<Wire> wire, Chance pieces, unsigned sends, unsigned takes);
  ~TunnelEnd() override;

  void look() override;
  bool over() const { return over_; }
  const TunnelSeen& seen() const { return seen_; }

 protected:
  /// Bytes that have come; how many of them are not the tunnel's.
  virtual std::size_t before_tunnel(std::string_view) { return 0; }
  virtual bool may_send() const { return true; }
  /// Behind its bytes there is no end of its own: the other end's is waited for.
  virtual bool ends_with_other() const { return false; }
  /// The wire is another's from here on.
  virtual bool hands_over_now() const { return false; }
  virtual void ended() {}
  void pump();
  /// The next bytes of this end, sent by somebody else.
  std::string take_next(std::uint64_t count);
  Book& book_;

 private:
  void read();
  void pause(Duration span);
  bool is_other(std::uint64_t place, std::string_view bytes) const;
  std::string bytes_at(std::uint64_t place, std::uint64_t most) const;
  void end(bool by_reset);

  World& world_;
  const std::uint64_t id_;
  const TunnelEndPlan plan_;
  const TunnelEndPlan other_;
  std::shared_ptr<Wire> wire_;
  std::shared_ptr<char> alive_ = std::make_shared<char>();
  Chance pieces_;
  const unsigned sends_;
  const unsigned takes_;
  std::uint64_t sent_ = 0;
  bool pausing_ = false;
  bool was_silent_ = false;
  bool finished_ = false;  ///< our side is closed
  bool over_ = false;
  TunnelSeen seen_;
};

/// Asks, and is a tunnel's end from the 200 on.
class TunnelClient final : public TunnelEnd {
 public:
  TunnelClient(World& world, Book& book, const TunnelPlan& plan, std::shared_ptr<Wire> wire, Chance pieces);
  void start();
  bool open() const { return open_; }
  /// The tunnel stands, and the story's own client is to speak in it.
  std::function<void()> hands_over;

 protected:
  std::size_t before_tunnel(std::string_view bytes) override;
  bool may_send() const override { return open_ && (!hands_over || terminated_); }
  bool ends_with_other() const override { return terminated_; }
  bool hands_over_now() const override { return open_ && hands_over && (!terminated_ || shaken_); }
  void ended() override;

 private:
  const RequestPlan request_;
  void shake_hands(std::string_view bytes);

  const std::uint64_t early_;
  const bool terminated_;
  const bool stays_silent_;
  std::shared_ptr<Wire> asked_on_;
  std::string head_;
  std::string flight_;   ///< of the server's, so far
  bool shaken_ = false;  ///< the client's has left
  bool open_ = false;
  bool refused_ = false;
};

}  // namespace reprise::simulation
