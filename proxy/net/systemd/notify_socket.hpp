// What a service manager is told of this process: datagrams to the socket that it names (sd_notify(3)).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "proxy/net/io/clock.hpp"
#include "proxy/net/systemd/environment.hpp"

namespace reprise::net {

/// Copies tell the same socket. Any thread.
class NotifySocket {
 public:
  /// Tells nobody.
  NotifySocket() = default;
  /// `address`: a path, or `@name` in the abstract namespace, as NOTIFY_SOCKET has it. One that no socket can
  /// have tells nobody.
  explicit NotifySocket(std::string address);

  /// One datagram, such as "READY=1". Never blocks: what nobody takes at once is lost. False then.
  bool tell(std::string_view state) const;

 private:
  std::string address_;
};

/// How often WATCHDOG=1 is to be told: three times within WATCHDOG_USEC, so that one may be late. Nothing
/// where that is not set, no number, 0, or meant for another process than `pid` (WATCHDOG_PID).
std::optional<Duration> watchdog_interval(const Environment&, std::uint64_t pid);

}  // namespace reprise::net
