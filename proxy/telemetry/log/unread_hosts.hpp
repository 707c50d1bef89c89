// Counts the HTTPS tunnels that reprise could not read, by host.
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
  std::string name;           ///< "host:port", or `other` for all hosts beyond the table's limit
  std::uint64_t tunnels = 0;  ///< TLS tunnels that were opened
  std::string intercept;      ///< host name to add to `intercept.hosts`; empty if interception cannot help
};

/// Counts the tunnels of each host. Thread-safe.
class UnreadHosts {
 public:
  /// Maximum number of hosts that the table lists by name.
  static constexpr std::size_t most_named = 1024;

  /// Counts one tunnel. Returns true for the first tunnel to that host:port, if the table has room for it.
  /// `intercept`: see UnreadHost.
  bool count(std::string_view host_port, std::string_view intercept);
  /// Returns at most `most` hosts, ordered by number of tunnels, the highest first; then `other` for the
  /// tunnels of all other hosts.
  std::vector<UnreadHost> list(std::size_t most) const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, UnreadHost, std::less<>> hosts_;
  std::uint64_t other_ = 0;
};

}  // namespace reprise::telemetry
