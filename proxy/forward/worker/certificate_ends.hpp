// Warns when certificates of this proxy are about to expire.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "proxy/forward/worker/worker.hpp"
#include "proxy/net/upstream/snapshot.hpp"

namespace reprise::forward {

/// Remembers for which certificates it has returned a warning. Reads no clock: `now` is wall-clock time in
/// seconds since 1970.
class EndingCertificates {
 public:
  static constexpr std::int64_t day = 24 * 3600;
  static constexpr std::int64_t warned_before = 30 * day;

  /// Returns one line for each certificate that expires within 30 days or has expired. The line of a
  /// certificate is returned at most once a day, and again if the wall clock was set back.
  std::vector<std::string> warnings(const std::vector<net::CertificateEnd>&, std::int64_t now);

 private:
  std::map<std::string, std::int64_t> warned_;  ///< time of the last warning, by certificate name
};

/// Sets `reprise_certificate_expires_seconds`.
void set_certificate_gauges(telemetry::Metrics&, const std::vector<net::CertificateEnd>&, std::int64_t now);

/// Warns of the certificates in the worker's snapshot, on the worker's thread, until its event loop ends.
Task<void> warn_of_certificate_ends(Worker&);

}  // namespace reprise::forward
