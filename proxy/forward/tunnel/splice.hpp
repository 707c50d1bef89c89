// Bodies that nobody needs to look at, moved from socket
// to socket by the kernel (splice(2)) through a lent pipe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "proxy/net/io/body_reader.hpp"

namespace reprise::forward {

/// A pipe between two sockets, lent by the thread's free list. Movable; what is destroyed empty is lent
/// again, what still holds bytes is closed with them.
class SplicePipe {
 public:
  /// What a pipe holds at most, where the kernel grants it. Larger ones gain nothing.
  static constexpr std::size_t wanted_bytes = std::size_t{256} * 1024;
  /// Below this the copy through memory is cheaper: such a pipe is not lent.
  static constexpr std::size_t least_bytes = std::size_t{64} * 1024;
  /// All threads together: pipes count against descriptors and against the user's pipe memory (pipe(7)).
  static constexpr int most_pipes = 128;

  /// None, rather than an error, where the kernel gives none of a useful size, where `most_pipes` are there,
  /// or where more than half of the process's descriptors are in use: sockets need those more.
  static SplicePipe lend();

  SplicePipe() = default;
  SplicePipe(SplicePipe&& other) noexcept : ends_(std::exchange(other.ends_, {})), held_(other.held_) {}
  SplicePipe& operator=(SplicePipe&&) = delete;
  ~SplicePipe();

  explicit operator bool() const { return ends_.read >= 0; }
  /// Bytes that were taken in and not given out.
  std::size_t held() const { return held_; }

  /// Takes in at most `most` bytes that wait in the socket; 0 without an error is FIN. Only for an empty
  /// pipe: would_block then speaks of the socket.
  std::size_t fill(int socket, std::uint64_t most, ErrorCode&);
  /// Gives the socket what its kernel buffer takes now; every error is the socket's.
  std::size_t drain(int socket, ErrorCode&);

  struct Ends {
    int read = -1;
    int write = -1;
  };

 private:
  explicit SplicePipe(Ends ends) : ends_(ends) {}

  Ends ends_;
  std::size_t held_ = 0;
};

/// What came of moving a body. The two sides' failures are never confused.
struct Spliced {
  net::BodyStep step =
      net::BodyStep::end;   ///< `end`, or how the upstream broke: everything that came before was sent
  ErrorCode unsent;         ///< set: the client took no more, and `step` says nothing
  std::uint64_t bytes = 0;  ///< that the client's kernel took
};

/// True if the rest of that body may go from socket to socket unseen, and is long enough to gain by it: both
/// are plain sockets, its length is known, nothing of it is at hand, and it goes on as it comes.
bool may_splice(net::BodyReader&, const net::Stream& to);

/// How long nothing may move, on each side.
struct SpliceLimits {
  Duration read{};
  Duration write{};
};

/// Moves exactly `bytes` bytes, through an empty pipe. Stalled if no byte comes for `limits.read`; `unsent`
/// if none leaves for `limits.write`.
Task<Spliced> splice(SplicePipe, net::Stream& from, net::Stream& to, std::uint64_t bytes,
                     SpliceLimits limits);

}  // namespace reprise::forward
