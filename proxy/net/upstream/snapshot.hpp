// One configuration, ready for use: the settings, and the objects that are made from the settings once for
// all threads.
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

/// The expiry time of one of this proxy's own certificates.
struct CertificateEnd {
  telemetry::CertificateUse use = telemetry::CertificateUse::client;
  std::string name;          ///< certificate's name: `intercept.ca`, or its configuration key and its file
  std::int64_t expires = 0;  ///< seconds since 1970
  std::string advice;        ///< advice for a warning: what to do about the expiry
};

/// Immutable; thread-safe. A request keeps the snapshot under which it began, so a reload does not affect
/// running requests. If a reload leaves an object unchanged, the old and the new snapshot share that object.
struct Snapshot {
  config::Settings settings;
  std::shared_ptr<const AddressFilter> filter;
  std::shared_ptr<const TlsClients> tls;
  std::shared_ptr<ClientTls> client_tls;  ///< terminates the clients' TLS; null without interception
  std::vector<CertificateEnd> certificate_ends;
  /// The number of each route in metrics and logs, by route index. A route name has the same number in every
  /// snapshot.
  std::vector<std::size_t> counted_as;
  /// Maximum number of clients: `limits.connections`, or the number that the limit of open files allows,
  /// whichever is lower.
  std::size_t most_clients = std::numeric_limits<std::size_t>::max();

  http::HeadLimits head_limits() const {
    return {settings.limits.header_bytes, settings.limits.header_fields, settings.limits.target_bytes};
  }
};

}  // namespace reprise::net
