// One client connection: reads a head under limits, sees its request through, and does it again while both
// sides like to.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "proxy/http/intake.hpp"
#include "proxy/io/client_watch.hpp"
#include "proxy/io/pause.hpp"
#include "proxy/message/request.hpp"
#include "proxy/tunnel/tunnel.hpp"
#include "proxy/upstream/pin.hpp"
#include "proxy/worker/worker.hpp"

namespace reprise::net {

/// What a listener tells its sessions. Immutable.
struct ListenerRole {
  config::Listener settings;
  std::string name{};                ///< `forward 127.0.0.1:3128`
  http::PortRanges connect_ports{};  ///< where CONNECT may go
  std::string upstream_authority{};  ///< gateway with `host: upstream`: what Host says; else empty

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

/// Lives in its own coroutine's frame, on one io thread.
class Session final : public IdleClient, public ClientSession {
 public:
  Session(Worker& worker, Carrier carrier, std::shared_ptr<const Listener> listener,
          const ConnectionEnds& ends);
  ~Session() override;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  Task<void> run();
  void drain() override;
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

  enum class Heard : std::uint8_t { request, more, refused, nothing };
  enum class Plan : std::uint8_t { exchange, response_here, refuse };

  std::unique_ptr<Request> begin_request();
  /// The configuration of this moment is the request's: once all of its head is there, for good.
  void put_under_newest(Request&);
  Task<bool> wait_for_bytes();
  Heard take_head(Request&, http::Rejection& why);
  Task<Heard> read_head(Request&, http::Rejection& why);
  Plan plan(Request&, http::Rejection& why);
  http::Intake take_in(const Request&) const;
  std::string_view client_name();
  void plan_forward(Request&, const http::Forward&);
  void plan_body(Request&);
  void plan_tunnel(Request&, const http::Connect&);
  void find_route(Request&, std::string_view host, std::uint16_t port);
  Task<bool> carry_out(Request&);
  Task<bool> begin_stream();
  Task<bool> begin_socks(Request&);
  Task<bool> begin_redirected(Request&);
  void ask_for(Request&, Entrance, std::string host, std::uint16_t port);
  void tell_refusal(const Request&, http::Rejection);
  Task<bool> carry_stream(Request&);
  Task<bool> hear_and_carry(Request&);
  Task<bool> go_inside(Request&);
  Task<bool> end_tls(Request&);
  bool tell_tls(const Request&, observe::Interception, std::string_view words);
  Task<bool> response_here(Request&);
  Task<void> refuse(Request&, http::Rejection);

  Worker& worker_;
  Stream stream_;
  Buffer buffer_;
  Pause pause_;
  Pin pin_;
  const std::shared_ptr<const Listener> listener_;
  std::shared_ptr<const ListenerRole> role_;  ///< of the request at hand
  const ConnectionEnds ends_;
  std::string client_name_;  ///< once it was asked for
  ClientWatch* watch_ = nullptr;
  Tunnel* tunnel_ = nullptr;
  std::string wanted_host_;  ///< of a stream that began with no request
  std::string wanted_;       ///< the same with its port
  std::optional<Inside> inside_;
  const Upstream* took_risk_of_ =
      nullptr;  ///< whose connections carried the last request that is not repeatable
  bool idle_ = false;
};

/// The coroutine to spawn for an accepted connection.
Task<void> serve(Worker& worker, Carrier carrier, std::shared_ptr<const Listener> listener,
                 ConnectionEnds ends);

}  // namespace reprise::net
