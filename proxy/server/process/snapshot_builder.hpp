// From settings to a snapshot: files are read, names are numbered, and what has not changed is taken over.
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

/// Used by one thread at a time, none of them an io thread: it reads files.
class SnapshotBuilder {
 public:
  /// `authority`: who signs for intercepted hosts, if not the files of the settings; `config_file` is named
  /// in what is said of those.
  SnapshotBuilder(telemetry::Metrics& metrics, telemetry::Log& log,
                  std::shared_ptr<const Authority> authority, std::string config_file)
      : metrics_(metrics),
        log_(log),
        authority_(std::move(authority)),
        config_file_(std::move(config_file)) {}

  /// `endpoints`: where we listen ourselves. Throws TlsSettingsError where a file of a route's `tls` cannot
  /// be loaded, InterceptError where one of `intercept` cannot be used; writes the bundle of `intercept`
  /// where it is not as it has to be.
  std::shared_ptr<const net::Snapshot> build(config::Settings settings,
                                             const std::vector<tcp::endpoint>& endpoints,
                                             const net::Snapshot* before);

  /// No certificate is made any more; returns once none is. No job of another thread then comes back to a
  /// loop that is gone.
  void stop();

 private:
  /// Certificates for intercepted hosts, and the digest of what they depend on: the authority's files and the
  /// hosts that it signs for.
  struct Made {
    std::weak_ptr<Leaves> leaves;
    std::string held;
  };

  std::shared_ptr<net::ClientTls> make_client_tls(const config::Settings&, const net::Snapshot* before,
                                                  std::vector<net::CertificateEnd>& ends);
  std::size_t clients_of(const config::Limits&);
  void tell_of_roots();
  void warn(const std::string& text);

  telemetry::Metrics& metrics_;
  telemetry::Log& log_;
  const std::shared_ptr<const Authority> authority_;
  const std::string config_file_;
  std::vector<Made> made_;
  std::string roots_;  ///< the digest of the system's roots
};

}  // namespace reprise::server
