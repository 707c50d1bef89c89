// The two ends of a tunnel: a client that sends CONNECT, and a server that never sees HTTP.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "tests/simulation/book.hpp"
#include "tests/simulation/wire.hpp"

namespace reprise::simulation {

/// Id of the CONNECT. A story has at most one tunnel.
inline constexpr std::uint64_t tunnel_id = 500;
/// Id of the request inside the tunnel, if it carries HTTP.
inline constexpr std::uint64_t inside_id = 501;
inline constexpr std::string_view tunnel_host = "tunnel.test";
inline constexpr std::uint16_t tunnel_port = 8443;

/// What one end of a tunnel sends, and how it ends.
struct TunnelEndPlan {
  std::string opening;       ///< fixed bytes that are sent before the random bytes
  bool hears_first = false;  ///< sends nothing before it has received something
  Duration silence{};        ///< wait before the first byte
  std::uint64_t bytes = 0;

  std::uint64_t all() const { return opening.size() + bytes; }
  std::optional<std::uint64_t> resets_after;  ///< resets after sending this many bytes
  Duration pause{};                           ///< wait between two pieces
};

struct TunnelPlan {
  RequestPlan request;  ///< the CONNECT; `host` names the server of the tunnel
  TunnelEndPlan client;
  TunnelEndPlan server;
  /// HTTP request that the client sends instead of the bytes in `client`. If the member `terminated` of the
  /// request is set, a TLS handshake precedes the request.
  std::optional<RequestPlan> inside;
  bool stays_silent = false;  ///< the client never completes its TLS handshake
  std::uint64_t early = 0;    ///< number of the client's bytes that are sent with the CONNECT head
};

/// What one end has observed so far.
struct TunnelSeen {
  std::uint64_t received = 0;
  bool finished = false;  ///< the other end sent FIN
  bool reset = false;
  Instant ours{};    ///< when this end sent FIN
  Instant theirs{};  ///< when the other end's FIN arrived
};

/// One end of a tunnel: sends its bytes, reads the bytes of the other end, and sends FIN after its last byte.
class TunnelEnd : public Actor {
 public:
  /// `other` is the plan of the other end. `sends` and `takes` select the content of each direction.
  TunnelEnd(World& world, Book& book, std::uint64_t id, TunnelEndPlan plan, TunnelEndPlan other,
            std::shared_ptr<Wire> wire, Chance pieces, unsigned sends, unsigned takes);
  ~TunnelEnd() override;

  void look() override;
  bool over() const { return over_; }
  const TunnelSeen& seen() const { return seen_; }

 protected:
  /// Handles received bytes. Returns how many of them come before the content of the tunnel.
  virtual std::size_t before_tunnel(std::string_view) { return 0; }
  virtual bool may_send() const { return true; }
  /// Returns true if this end sends no FIN, but waits for the FIN of the other end.
  virtual bool ends_with_other() const { return false; }
  /// Returns true if a simulated HTTP client uses this connection from now on, instead of this object.
  virtual bool hands_over_now() const { return false; }
  virtual void ended() {}
  void pump();
  /// Takes the next bytes that this end has to send, at most `count`. The caller sends them.
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
  bool finished_ = false;  ///< this end's FIN was sent
  bool over_ = false;
  TunnelSeen seen_;
};

/// Sends CONNECT, and acts as one end of the tunnel after the 200.
class TunnelClient final : public TunnelEnd {
 public:
  TunnelClient(World& world, Book& book, const TunnelPlan& plan, std::shared_ptr<Wire> wire, Chance pieces);
  void start();
  bool open() const { return open_; }
  /// Starts an HTTP client that sends the request inside the established tunnel. Empty if the tunnel carries
  /// no HTTP request.
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
  std::string flight_;   ///< bytes received so far of the server's TLS handshake flight
  bool shaken_ = false;  ///< the client's TLS handshake flight was sent
  bool open_ = false;
  bool refused_ = false;
};

}  // namespace reprise::simulation
