// Notifies a service manager about this process: datagrams to the socket in NOTIFY_SOCKET (sd_notify(3)).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "proxy/net/io/clock.hpp"
#include "proxy/net/systemd/environment.hpp"

namespace reprise::net {

/// Notifies one socket. Copies of this object notify the same socket. Thread-safe.
class NotifySocket {
 public:
  /// Discards all messages.
  NotifySocket() = default;
  /// `address`: a path, or `@name` for the abstract namespace, as NOTIFY_SOCKET has it. With an invalid
  /// address all messages are discarded.
  explicit NotifySocket(std::string address);

  /// Sends one datagram, such as "READY=1". Never blocks. Returns false if the datagram was not accepted at
  /// once; the datagram is lost then.
  bool send(std::string_view state) const;

 private:
  std::string address_;
};

/// Returns the interval for WATCHDOG=1: a third of WATCHDOG_USEC, so that one message may be late. Returns no
/// value if WATCHDOG_USEC is absent, 0 or not a number, or if WATCHDOG_PID is not `pid`.
std::optional<Duration> watchdog_interval(const Environment&, std::uint64_t pid);

}  // namespace reprise::net
