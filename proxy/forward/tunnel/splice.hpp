// Moves bodies from socket to socket in the kernel, by splice(2) through a pipe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "proxy/net/ends/body_source.hpp"

namespace reprise::forward {

/// A pipe between two sockets, from the thread's list of idle pipes. Movable. An empty pipe returns to that
/// list when it is destroyed; a pipe that still holds bytes is closed.
class SplicePipe {
 public:
  /// Capacity that is requested for a pipe. Larger pipes are not faster.
  static constexpr std::size_t wanted_bytes = std::size_t{256} * 1024;
  /// Smallest useful capacity. A smaller pipe is not used, because a copy through memory costs less.
  static constexpr std::size_t least_bytes = std::size_t{64} * 1024;
  /// Maximum number of pipes of all threads together, because pipes count against descriptors and against the
  /// user's pipe memory (pipe(7)).
  static constexpr int most_pipes = 128;

  /// Returns a pipe. Returns an empty object in three cases: the kernel grants no useful size, `most_pipes`
  /// exist, or more than half of the process's descriptors are in use, because sockets need them more.
  static SplicePipe lend();

  SplicePipe() = default;
  SplicePipe(SplicePipe&& other) noexcept : ends_(std::exchange(other.ends_, {})), held_(other.held_) {}
  SplicePipe& operator=(SplicePipe&&) = delete;
  ~SplicePipe();

  explicit operator bool() const { return ends_.read >= 0; }
  /// Returns how many bytes are in the pipe.
  std::size_t held() const { return held_; }

  /// Takes at most `most` bytes from the socket. Returns 0 without an error on FIN. Precondition: the pipe is
  /// empty, so that would_block refers to the socket.
  std::size_t fill(int socket, std::uint64_t most, ErrorCode&);
  /// Passes on as many bytes as the socket's kernel buffer takes now. Any error is an error of the socket.
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

/// The result of moving a body, with the failures of both sides kept apart.
struct Spliced {
  /// `end`, or how the upstream's body broke. All bytes that had arrived by then were sent to the client.
  net::BodyStep step = net::BodyStep::end;
  ErrorCode unsent;         ///< set if the client accepted no more bytes; `step` is then meaningless
  std::uint64_t bytes = 0;  ///< bytes that the kernel accepted for the client
};

/// Returns true if the rest of a body can be spliced and is long enough to save time. Both ends must be plain
/// sockets, and the body must be passed unchanged. `to` is null if the client's end is not a plain socket.
bool may_splice(const net::BodySource::OnSocket& rest, const net::Stream* to);

/// The longest time without progress, for each side.
struct SpliceLimits {
  Duration read{};
  Duration write{};
};

/// Moves exactly `bytes` bytes through an empty pipe. Returns `stalled` if no byte arrives for `limits.read`.
/// Sets `unsent` if no byte can be written for `limits.write`.
Task<Spliced> splice(SplicePipe, net::Stream& from, net::Stream& to, std::uint64_t bytes,
                     SpliceLimits limits);

}  // namespace reprise::forward
