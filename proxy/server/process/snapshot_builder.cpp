#include "proxy/server/process/snapshot_builder.hpp"

#include <array>

#include "proxy/net/io/clock.hpp"
#include "proxy/net/io/descriptors.hpp"
#include "proxy/net/tls/file_digest.hpp"
#include "proxy/net/tls/root_places.hpp"
#include "proxy/server/intercept/authority_files.hpp"
#include "proxy/server/intercept/leaves.hpp"
#include "proxy/server/intercept/secret_memory.hpp"
#include "proxy/server/intercept/trust.hpp"

namespace reprise::server {

namespace {

// Returns a digest of everything that the certificates for intercepted hosts depend on.
std::string held_by(const config::Intercept& intercept) {
  const std::array<std::string, 2> files{intercept.certificate, intercept.key};
  std::string held = net::digest_of_files(files) + intercept.certificate + '\n' + intercept.key + '\n';
  for (const policy::HostPattern& host : intercept.hosts) held.append(host.text).push_back('\n');
  return held;
}

}  // namespace

void SnapshotBuilder::warn(const std::string& text) {
  log_.message(config::LogLevel::warn, text, net::Clock::wall_nanoseconds());
}

// Returns limits.connections. If the limit of open files allows fewer, returns that lower number and logs a
// warning.
std::size_t SnapshotBuilder::clients_of(const config::Limits& limits) {
  const std::size_t allowed = net::clients_allowed(limits.admin_connections);
  if (allowed >= limits.connections) return limits.connections;
  warn("limits.connections is lowered from " + std::to_string(limits.connections) + " to " +
       std::to_string(allowed) + ": the limit of open files allows no more");
  return allowed;
}

std::shared_ptr<net::ClientTls> SnapshotBuilder::make_client_tls(const config::Settings& settings,
                                                                 const net::Snapshot* before,
                                                                 std::vector<net::CertificateEnd>& ends) {
  if (!settings.intercept) return nullptr;
  const config::Intercept& intercept = *settings.intercept;
  if (!reserve_secret_memory())
    warn("the memory of private keys cannot be locked and may be swapped out: raise the limit (ulimit -l)");
  const std::int64_t now = net::Clock::wall_nanoseconds() / 1'000'000'000;
  const auto authority = authority_ ? authority_ : load_authority(intercept, config_file_, now);
  ends.push_back({telemetry::CertificateUse::authority, "intercept.ca", authority->expires(),
                  "reprise ca renew makes a new one"});
  try {
    if (intercept.bundle) write_trust(*intercept.bundle, *authority);
  } catch (const std::runtime_error& error) {
    throw InterceptError(std::string("intercept.bundle: ") + error.what());
  }
  std::string held = held_by(intercept);
  std::erase_if(made_, [](const Made& old) { return old.leaves.expired(); });
  // Reuses only the certificates of the current configuration, not those of a configuration that was never
  // applied.
  for (const Made& old : made_) {
    std::shared_ptr<net::ClientTls> leaves = old.leaves.lock();
    if (before != nullptr && leaves == before->client_tls && old.held == held) return leaves;
  }
  auto leaves = std::make_shared<Leaves>(authority, intercept.hosts, settings.limits.upstreams);
  made_.push_back({leaves, std::move(held)});
  return leaves;
}

void SnapshotBuilder::log_changed_roots() {
  std::string now = net::digest_of_files(net::root_places().all());
  if (!roots_.empty() && roots_ != now)
    log_.message(config::LogLevel::info, "the trusted roots of this host have changed and were read again",
                 net::Clock::wall_nanoseconds());
  roots_ = std::move(now);
}

void SnapshotBuilder::stop() {
  for (const Made& made : made_) {
    if (const auto leaves = made.leaves.lock()) leaves->stop();
  }
}

std::shared_ptr<const net::Snapshot> SnapshotBuilder::build(config::Settings settings,
                                                            const std::vector<tcp::endpoint>& endpoints,
                                                            const net::Snapshot* before) {
  auto snapshot = std::make_shared<net::Snapshot>();
  log_changed_roots();
  const auto& parent = settings.parent;
  snapshot->tls = std::make_shared<const net::TlsClients>(*settings.routes,
                                                          parent && parent->tls ? &*parent->tls : nullptr,
                                                          before == nullptr ? nullptr : before->tls.get());
  snapshot->filter = std::make_shared<const net::AddressFilter>(settings.security.deny, endpoints);
  snapshot->client_tls = make_client_tls(settings, before, snapshot->certificate_ends);
  for (auto& [file, expires] : snapshot->tls->certificate_ends())
    snapshot->certificate_ends.push_back({telemetry::CertificateUse::client, "tls.certificate " + file,
                                          expires, "put a new certificate and its key into their files"});
  for (std::size_t i = 0; i < settings.routes->size(); ++i) {
    const std::string& name = (*settings.routes)[i].name;
    snapshot->counted_as.push_back(metrics_.route(name));
    log_.name_route(snapshot->counted_as.back(), name);
  }
  snapshot->most_clients = clients_of(settings.limits);
  snapshot->settings = std::move(settings);
  return snapshot;
}

}  // namespace reprise::server
