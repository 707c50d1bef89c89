// Counts for the summary that exec prints: how many requests there were, how many were retried, recovered or
// given up, and why they were given up.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include "proxy/telemetry/log/exchange_record.hpp"
#include "proxy/telemetry/log/unread_hosts.hpp"

namespace reprise::cli {

/// The counts for one run of exec. Thread-safe.
class ExecTally {
 public:
  void count(const telemetry::ExchangeRecord&);

  /// Returns a line such as `12 requests, 3 retried, 2 recovered, 1 given up: attempts_spent`.
  std::string line() const;
  /// Returns a line such as `5 tunnels to api.example.com:443 could not be read (--intercept
  /// api.example.com)`. Empty if every tunnel could be read.
  std::string tunnel_line() const;
  /// Returns a JSON object:
  /// {"requests":12,"retried":3,"recovered":2,"given_up":1,"reasons":{"attempts_spent":1},"tunnels":5,
  /// "unread_tunnels":{"api.example.com:443":5},"exit_code":0}
  std::string json(int exit_code) const;

 private:
  void count_tunnel(const telemetry::ExchangeRecord&);

  mutable std::mutex mutex_;
  std::uint64_t requests_ = 0;
  std::uint64_t retried_ = 0;
  std::uint64_t recovered_ = 0;
  std::uint64_t given_up_ = 0;
  std::map<std::string, std::uint64_t, std::less<>> reasons_;
  std::uint64_t tunnels_ = 0;
  telemetry::UnreadHosts unread_;
};

}  // namespace reprise::cli
