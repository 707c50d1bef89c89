// One client connection: reads a head under limits, sees its request through, and does it again while both
// sides like to.
#pragma once

#include <optional>
#include <string>

#include "proxy/http/intake.hpp"
#include "proxy/net/loop.hpp"
#include "proxy/net/pause.hpp"
#include "proxy/net/pin.hpp"
#include "proxy/net/tunnel.hpp"
#include "proxy/net/watch.hpp"

namespace reprise::net {

/// What a listener tells its sessions; outlives them.
struct ListenerRole {
  config::Listener settings;
  std::string upstream_authority;  ///< gateway with `host: upstream`: what Host says; else empty
};

/// Lives in its own coroutine's frame, on one io thread.
class Session final : public Resting {
 public:
  Session(Loop& loop, Carrier carrier, const ListenerRole& role);
  ~Session() override;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  Task<void> run();
  /// Shutdown: an idle connection closes, a wait ends with the last answer, a tunnel ends once it is quiet.
  void drain();
  /// The grace is over: everything stops.
  void abort();

 protected:
  bool close_for_room() override;

 private:
  friend class Sessions;

  /// The upstream of a CONNECT whose tunnel carries plain HTTP: all that follows goes there.
  struct Inside {
    std::string host;
    std::uint16_t port = 0;
    std::string authority;  ///< as the client wrote it
  };

  enum class Heard : std::uint8_t { request, more, refused, nothing };
  enum class Plan : std::uint8_t { exchange, answer_here, refuse };

  Task<bool> wait_for_bytes();
  Heard take_head(Request&, http::Cause& why);
  Task<Heard> read_head(Request&, http::Cause& why);
  Plan plan(Request&, http::Cause& why);
  http::Intake take_in(const Request&) const;
  void plan_forward(Request&, const http::Forward&);
  void plan_body(Request&);
  void plan_tunnel(Request&, const http::Connect&);
  void find_route(Request&, std::string_view host, std::uint16_t port);
  Task<bool> carry_out(Request&);
  void go_inside(Request&);
  Task<bool> answer_here(Request&);
  Task<void> refuse(Request&, http::Cause);

  Loop& loop_;
  Stream stream_;
  Buffer buffer_;
  Pause pause_;
  Pin pin_;
  const ListenerRole& role_;
  Watch* watch_ = nullptr;
  Tunnel* tunnel_ = nullptr;
  std::optional<Inside> inside_;
  const Upstream* took_risk_of_ =
      nullptr;  ///< whose connections carried the last request that is not repeatable
  bool idle_ = false;
  Session* previous_ = nullptr;
  Session* next_ = nullptr;
};

/// The coroutine to spawn for an accepted connection.
Task<void> serve(Loop& loop, Carrier carrier, const ListenerRole& role);

/// Shutdown of an io thread: nothing is kept open for another request, and every session is told.
void drain(Loop&);
/// The grace is over.
void abort(Loop&);

template <typename Visit>
void Sessions::each(Visit visit) {
  for (Session* session = first_; session != nullptr;) {
    Session* following = session->next_;
    visit(*session);
    session = following;
  }
}

}  // namespace reprise::net
