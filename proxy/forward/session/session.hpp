// Serves HTTP/1 requests on one client connection until either side closes it.
#pragma once

#include <optional>

#include "proxy/forward/session/plan.hpp"
#include "proxy/forward/session/served_client.hpp"

namespace reprise::forward {

/// Lives in its own coroutine frame, on one io thread. The client must outlive this object.
class Session {
 public:
  enum class Ending : std::uint8_t {
    over,
    goes_idle,  ///< idle for a while: the connection can wait without a session
  };

  explicit Session(ServedClient& client) : client_(client), worker_(client.worker) {}

  Task<Ending> run();

 private:
  enum class Arrived : std::uint8_t { bytes, nothing, quiet };
  enum class HeadState : std::uint8_t { whole, partial, refused, gone };

  Task<bool> begin_stream();
  Task<Arrived> wait_for_bytes();
  bool can_wait_alone() const;
  HeadState take_head(Request&, http::Rejection& why);
  Task<HeadState> read_head(Request&, http::Rejection& why);
  Task<bool> serve(Request&);
  Task<bool> carry_stream(Request&);
  Task<bool> discard_rest(Request&);
  Task<bool> respond(Request&);
  Task<void> refuse(Request&, http::Rejection);

  ServedClient& client_;
  Worker& worker_;
  std::optional<InsideStream> inside_;
};

/// Spawns the coroutine of a connection. Precondition: bytes have arrived on its socket, or are expected
/// soon.
void serve(Worker& worker, ClientConnection connection);

}  // namespace reprise::forward
