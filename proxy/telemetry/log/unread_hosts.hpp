// Hosts whose HTTPS went through tunnels that could not be read, and how often.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace reprise::telemetry {

struct UnreadHost {
  std::string name;           ///< "host:port"; or `other`, for the hosts that the table has no room for
  std::uint64_t tunnels = 0;  ///< tunnels of TLS that were opened
  std::string intercept;  ///< the name that `intercept.hosts` would need; empty if interception cannot help
};

/// Thread-safe.
class UnreadHosts {
 public:
  /// The table names at most this many hosts.
  static constexpr std::size_t most_named = 1024;

  /// Counts one tunnel. Returns true for the first tunnel to that host:port, if the table has room for it.
  /// `intercept`: as in UnreadHost.
  bool count(std::string_view host_port, std::string_view intercept);
  /// At most `most` hosts, those with the most tunnels first, then `other` if it was counted.
  std::vector<UnreadHost> list(std::size_t most) const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, UnreadHost, std::less<>> hosts_;
  std::uint64_t other_ = 0;
};

}  // namespace reprise::telemetry
