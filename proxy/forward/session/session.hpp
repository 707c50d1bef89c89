// One client connection: reads a head under limits, sees its request through, and does it again while both
// sides like to.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "proxy/forward/exchange/client_side.hpp"
#include "proxy/forward/request/request.hpp"
#include "proxy/forward/worker/worker.hpp"
#include "proxy/http/message/intake.hpp"
#include "proxy/net/io/pause.hpp"
#include "proxy/net/upstream/pin.hpp"

namespace reprise::forward {

/// What a listener tells its sessions. Immutable.
struct ListenerRole {
  config::Listener settings;
  std::string name{};                ///< `forward 127.0.0.1:3128`
  http::PortRanges connect_ports{};  ///< where CONNECT may go
  std::string upstream_authority{};  ///< gateway with `host: upstream`: what Host says; else empty
  bool reached_by_others = false;    ///< it is bound to more than loopback

  RequestKind kind() const {
    return settings.mode == config::ListenerMode::gateway ? RequestKind::gateway : RequestKind::forward;
  }
  /// True where connections do not begin with a request to us.
  bool opens_streams() const {
    return settings.mode == config::ListenerMode::socks || settings.mode == config::ListenerMode::transparent;
  }
};

/// One listening socket on one io thread, and what is told to those who come through it. Used on that thread.
struct Listener {
  std::shared_ptr<const ListenerRole> role;  ///< the newest: a reload may give it another
  std::optional<tcp::acceptor> acceptor{};   ///< absent: connections are handed in by somebody else
  bool closed = false;                       ///< nobody comes any more; who is there leaves after a response
};

/// The two ends of a client's connection.
struct ConnectionEnds {
  tcp::endpoint client;
  /// The address that the client chose, before any rule redirected it; asked for on gateways and transparent
  /// listeners alone.
  tcp::endpoint listener;
};

/// One of limits.connections, counted for as long as it is held.
struct LeavePlace {
  void operator()(Shared* shared) const {
    shared->metrics.client_disconnected();
    shared->client_connections.fetch_sub(1, std::memory_order_relaxed);
  }
};
using ClientPlace = std::unique_ptr<Shared, LeavePlace>;
/// Of a client that `client_connections` counts already.
ClientPlace place_of_client(Shared&);

/// A client's connection, and what is known of it from one request to the next.
struct ClientConnection {
  net::Carrier carrier;
  std::shared_ptr<const Listener> listener;
  /// What it is spoken to in, whatever a reload makes of the listener.
  std::shared_ptr<const ListenerRole> role;
  ConnectionEnds ends;
  ClientPlace place;
  /// Whose connections carried the last request that is not repeatable.
  const net::Upstream* took_risk_of = nullptr;
  bool had_request = false;  ///< it carried one before
};

/// Lives in its own coroutine's frame, on one io thread.
class Session final : public IdleClient, public ClientSession {
 public:
  enum class Ending : std::uint8_t {
    over,
    rests,  ///< nothing is under way, and nothing has come for a while: the connection can wait without us
  };

  Session(Worker& worker, ClientConnection connection);
  ~Session() override;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  Task<Ending> run();
  /// Of a session that has ended with `rests`: what goes on with the next request.
  ClientConnection release();
  void drain() override;
  void judge(const net::AddressFilter&) override;
  void abort() override;

 protected:
  bool close_for_room() override;

 private:
  /// The upstream of a stream whose requests are served one by one: all that follows goes there.
  struct Inside {
    RequestKind kind = RequestKind::inside_tunnel;
    std::string host;
    std::uint16_t port = 0;
    std::string authority;  ///< as the client wrote it
    std::string dialled;    ///< the host, or, of what was redirected, its original address
  };

  enum class Came : std::uint8_t { bytes, nothing, quiet };
  enum class Heard : std::uint8_t { request, more, refused, nothing };
  enum class Plan : std::uint8_t { exchange, respond, refuse };

  std::unique_ptr<Request> begin_request();
  /// The configuration of this moment is the request's: once all of its head is there, for good.
  void put_under_newest(Request&);
  bool has_asked();
  Task<Came> wait_for_bytes();
  bool can_wait_alone() const;
  Heard take_head(Request&, http::Rejection& why);
  Task<Heard> read_head(Request&, http::Rejection& why);
  Plan plan(Request&, http::Rejection& why);
  http::Intake take_in(const Request&) const;
  std::string_view client_name();
  void plan_forward(Request&, const http::Forward&);
  void plan_gateway(Request&);
  void plan_body(Request&);
  void plan_tunnel(Request&, const http::Connect&);
  void find_route(Request&, std::string_view host, std::uint16_t port);
  Task<bool> carry_out(Request&);
  Task<bool> read_rest(Request&);
  Task<void> linger();
  Task<bool> begin_stream();
  Task<bool> begin_socks(Request&);
  Task<bool> begin_redirected(Request&);
  void ask_for(Request&, Entrance, std::string host, std::uint16_t port);
  void tell_refusal(const Request&, http::Rejection);
  Task<bool> carry_stream(Request&);
  Task<bool> hear_and_carry(Request&);
  Task<bool> go_inside(Request&);
  Task<bool> end_tls(Request&);
  bool tell_tls(const Request&, telemetry::Interception, std::string_view words);
  Task<bool> respond(Request&);
  Task<void> refuse(Request&, http::Rejection);

  Worker& worker_;
  net::Stream stream_;
  net::Buffer buffer_;
  net::Pause pause_;
  net::Pin pin_;
  const std::shared_ptr<const Listener> listener_;
  std::shared_ptr<const ListenerRole> role_;  ///< of the request at hand
  const ConnectionEnds ends_;
  std::string client_name_;  ///< once it was asked for
  net::GuardedPointer<net::ClientWatch> watch_;
  std::optional<IdleClients::Stay> departed_;  ///< while it has sent a FIN and something is under way
  net::GuardedPointer<OpenTunnel> tunnel_;
  std::string wanted_host_;  ///< of a stream that began with no request
  std::string wanted_;       ///< the same with its port
  std::optional<Inside> inside_;
  ClientPlace place_;
  const net::Upstream* took_risk_of_;
  bool had_request_;  ///< before the one that is planned
  /// A client has just connected, and its first request is due within a tick. Shutdown does not cut that tick
  /// short: the client could not know that nothing was read, and would fail.
  bool awaits_first_ = false;
  net::GuardedPointer<net::Stream> idle_;  ///< that of a client between two requests
};

/// Spawns the coroutine of a connection on whose socket something has come, or soon will.
void serve(Worker& worker, ClientConnection connection);

}  // namespace reprise::forward
