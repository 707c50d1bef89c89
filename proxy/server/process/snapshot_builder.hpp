// Builds a snapshot from settings: reads files, numbers the routes, and reuses what has not changed.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "proxy/net/upstream/snapshot.hpp"
#include "proxy/server/intercept/authority.hpp"
#include "proxy/telemetry/log/access_log.hpp"
#include "proxy/telemetry/metrics/metrics.hpp"

namespace reprise::server {

class Leaves;

/// Used by one thread at a time, never an io thread, because it reads files.
class SnapshotBuilder {
 public:
  /// `authority`: signs certificates for intercepted hosts; if null, it is loaded from the files in the
  /// settings. `config_file`: name of the configuration file, used in messages about those files.
  SnapshotBuilder(telemetry::Metrics& metrics, telemetry::Log& log,
                  std::shared_ptr<const Authority> authority, std::string config_file)
      : metrics_(metrics),
        log_(log),
        authority_(std::move(authority)),
        config_file_(std::move(config_file)) {}

  /// Builds the snapshot. `endpoints`: addresses of this proxy's listeners. Writes the bundle of `intercept`
  /// if it is not up to date. Throws TlsSettingsError if a file of a route's `tls` cannot be loaded, and
  /// InterceptError if a file of `intercept` cannot be used.
  std::shared_ptr<const net::Snapshot> build(config::Settings settings,
                                             const std::vector<tcp::endpoint>& endpoints,
                                             const net::Snapshot* before);

  /// Stops making certificates. Returns when no certificate is being made any more, so that no job of another
  /// thread posts to a destroyed loop.
  void stop();

 private:
  /// Certificates for intercepted hosts, and the digest of their inputs: the authority's files and the listed
  /// hosts.
  struct Made {
    std::weak_ptr<Leaves> leaves;
    std::string held;
  };

  std::shared_ptr<net::ClientTls> make_client_tls(const config::Settings&, const net::Snapshot* before,
                                                  std::vector<net::CertificateEnd>& ends);
  std::size_t clients_of(const config::Limits&);
  void log_changed_roots();
  void warn(const std::string& text);

  telemetry::Metrics& metrics_;
  telemetry::Log& log_;
  const std::shared_ptr<const Authority> authority_;
  const std::string config_file_;
  std::vector<Made> made_;
  std::string roots_;  ///< digest of the system's roots
};

}  // namespace reprise::server
