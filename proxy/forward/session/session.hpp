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
    http2,      ///< the client speaks HTTP/2; its first bytes are unread
  };

  /// `inside`: the byte stream that the connection is inside of, if any.
  Session(ServedClient& client, std::optional<InsideStream> inside)
      : client_(client), worker_(client.worker), inside_(std::move(inside)) {}

  Task<Ending> run();
  /// Returns the byte stream that carries the client's requests; absent if there is none.
  std::optional<InsideStream> take_inside() { return std::move(inside_); }

 private:
  enum class Arrived : std::uint8_t { bytes, nothing, quiet };
  enum class Opening : std::uint8_t { http1, http2, gone };
  enum class HeadState : std::uint8_t { whole, partial, refused, gone };

  Task<bool> begin_stream();
  Task<Arrived> wait_for_bytes();
  bool can_wait_alone() const;
  Task<Opening> read_opening();
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
  bool is_first_ = true;  ///< the next bytes are the first of the connection, or of a byte stream inside it
};

/// Serves a connection until it has ended, whatever its HTTP version is, or until it is idle and waits
/// without a session. `inside`: the byte stream that the connection is inside of, if any.
Task<void> run_session(Worker& worker, ClientConnection connection, std::optional<InsideStream> inside = {});
/// Spawns the coroutine of a connection. Precondition: bytes have arrived on its socket, or are expected
/// soon.
void serve(Worker& worker, ClientConnection connection);

}  // namespace reprise::forward
