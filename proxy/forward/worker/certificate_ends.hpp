// Warnings of certificates of this side that end soon: from when on, and how often.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "proxy/forward/worker/worker.hpp"
#include "proxy/net/upstream/snapshot.hpp"

namespace reprise::forward {

/// Remembers of which certificates it has warned. No clock is read here: `now` is the wall's, in seconds
/// since 1970.
class EndingCertificates {
 public:
  static constexpr std::int64_t day = 24 * 3600;
  static constexpr std::int64_t warned_before = 30 * day;

  /// One line for each certificate that ends within 30 days or has ended: at once, then once a day. A wall
  /// clock that was set back begins anew.
  std::vector<std::string> warnings(const std::vector<net::CertificateEnd>&, std::int64_t now);

 private:
  std::map<std::string, std::int64_t> warned_;  ///< by name: when last
};

/// `reprise_certificate_expires_seconds`.
void set_certificate_gauges(telemetry::Metrics&, const std::vector<net::CertificateEnd>&, std::int64_t now);

/// Warns of the certificates of the worker's snapshot, on the worker's thread, until its loop ends.
Task<void> warn_of_certificate_ends(Worker&);

}  // namespace reprise::forward
