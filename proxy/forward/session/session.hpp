// One client connection with HTTP/1: reads a head under limits, sees its request through, and does it again
// while both sides like to.
#pragma once

#include <optional>

#include "proxy/forward/session/plan.hpp"

namespace reprise::forward {

/// Lives in its own coroutine's frame, on one io thread. The client must outlive it.
class Session {
 public:
  enum class Ending : std::uint8_t {
    over,
    rests,  ///< nothing is under way, and nothing has come for a while: the connection can wait without us
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

/// Spawns the coroutine of a connection on whose socket something has come, or soon will.
void serve(Worker& worker, ClientConnection connection);

}  // namespace reprise::forward
