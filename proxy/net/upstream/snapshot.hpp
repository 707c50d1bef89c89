// One configuration, ready for use: what was configured, and what was made of it once for all threads.
#pragma once

#include <cstddef>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "config/settings.hpp"
#include "proxy/http/message/head.hpp"
#include "proxy/net/tls/client_tls.hpp"
#include "proxy/net/tls/tls_client.hpp"
#include "proxy/net/upstream/address_filter.hpp"
#include "proxy/telemetry/metrics/metrics.hpp"

namespace reprise::net {

/// When a certificate of this side ends.
struct CertificateEnd {
  telemetry::CertificateUse use = telemetry::CertificateUse::client;
  std::string name;          ///< `intercept.ca`, or the key and its file
  std::int64_t expires = 0;  ///< seconds since 1970
  std::string advice;        ///< what to do, for a warning
};

/// Immutable; any thread. A request keeps the one under which it began to its end, so that no reload decides
/// half of it. Parts that a reload leaves as they were are the same objects in both.
struct Snapshot {
  config::Settings settings;
  std::shared_ptr<const AddressFilter> filter;
  std::shared_ptr<const TlsClients> tls;
  std::shared_ptr<ClientTls> client_tls;  ///< who ends clients' TLS; null: nobody
  std::vector<CertificateEnd> certificate_ends;
  /// By route: as which it is counted and logged. The same name is the same number in every snapshot.
  std::vector<std::size_t> counted_as;
  /// limits.connections, or what the descriptors allow where that is fewer.
  std::size_t most_clients = std::numeric_limits<std::size_t>::max();

  http::HeadLimits head_limits() const {
    return {settings.limits.header_bytes, settings.limits.header_fields, settings.limits.target_bytes};
  }
};

}  // namespace reprise::net
