// All values of one configuration with their defaults: listeners, limits, timers, routes.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "proxy/policy/decision/route.hpp"
#include "proxy/policy/decision/tls_policy.hpp"
#include "proxy/policy/pacing/instant.hpp"

namespace reprise::config {

using policy::Duration;

/// A numeric address and a port. Port 0 binds a free port.
struct Endpoint {
  std::string address = "127.0.0.1";  ///< IPv4 or IPv6 literal, without brackets; empty: nothing is bound
  std::uint16_t port = 0;

  bool is_off() const { return address.empty(); }
};

enum class ListenerMode : std::uint8_t { forward, gateway, transparent, socks };
/// The source of the Host that a gateway's upstream receives.
enum class GatewayHost : std::uint8_t { upstream, client };

/// Handling of the upstream's redirects and cookies by a gateway: rewritten to lead back to the gateway, or
/// passed.
enum class GatewayRedirects : std::uint8_t { rewrite, pass };

/// The upstream of a gateway listener.
struct GatewayUpstream {
  std::string host;  ///< name or literal, without brackets, lower case
  std::uint16_t port = 80;
  bool https = false;       ///< with verified TLS; the default port is then 443
  std::string path_prefix;  ///< "" or "/base", without a final slash; prepended to every path
};

struct Listener {
  ListenerMode mode = ListenerMode::forward;
  Endpoint bind{"127.0.0.1", 3128};
  bool allow_remote = false;  ///< if false, `bind` must be loopback
  GatewayUpstream upstream;   ///< gateway only
  GatewayHost host = GatewayHost::upstream;
  GatewayRedirects redirects = GatewayRedirects::rewrite;
  std::size_t line = 0;  ///< line in the file, from 1; 0: built-in
};

struct Admin {
  Endpoint bind{"127.0.0.1", 3129};  ///< may be off
  bool allow_remote = false;
  std::optional<std::string> control;  ///< path of a unix socket for commands
};

/// The parent proxy, through which all requests go.
struct Parent {
  std::string host;  ///< name or literal, without brackets, lower case
  std::uint16_t port = 0;
  std::string user;           ///< as written, percent-encoded; empty: no credentials
  std::string authorization;  ///< secret value of Proxy-Authorization (RFC 7617); empty: not sent
  /// How the parent's certificate is verified. Absent: plain HTTP to the parent.
  std::optional<policy::TlsPolicy> tls{};
  /// Hosts reached without the parent: names, `*.suffix`, and networks with a prefix length.
  std::vector<std::string> except{};
};

/// Hosts whose TLS is intercepted, and the local authority for it.
struct Intercept {
  std::vector<policy::HostPattern> hosts;  ///< at least one; exact names and `*.suffix`
  std::string certificate;                 ///< certificate of the authority, a PEM file
  std::string key;                         ///< private key of the authority, a PEM file
  std::optional<std::string> bundle;       ///< PEM file that is written for applications
};

/// Networks that are never dialled, and whether the proxy's own listeners (`self`) are among them.
struct Deny {
  std::vector<std::string> networks{
      "169.254.0.0/16", "100.100.100.200/32", "192.0.0.192/32", "fe80::/10",
      "fd00:ec2::254/128"};  ///< validated CIDR texts; a bare address has /32 or /128
  bool self = true;
};

using PortRanges = std::vector<std::pair<std::uint16_t, std::uint16_t>>;  ///< both ends inclusive

struct Security {
  Deny deny;
  std::optional<PortRanges> connect_ports;  ///< absent: `auto`, which depends on the address of each listener
};

struct Limits {
  std::size_t connections = 4096;
  std::size_t admin_connections = 64;
  std::size_t header_bytes = 64 * 1024;
  std::size_t header_fields = 256;
  std::size_t target_bytes = 64 * 1024;
  std::size_t request_body_bytes = policy::no_size_limit;
  std::size_t replay_memory_bytes = 64 * 1024 * 1024;
  std::uint64_t replay_disk_bytes = 1024 * 1024 * 1024;
  std::string replay_folder = "/tmp";
  std::size_t kept_response_bytes = 64 * 1024;
  std::size_t upstreams = 1024;
  std::size_t history_bytes = 1024 * 1024;  ///< per io thread; 0: no request history
  std::size_t labelled_upstreams = 32;
};

struct Timers {
  Duration header = std::chrono::seconds(10);
  Duration keep_alive = std::chrono::minutes(5);
  Duration handshake = std::chrono::seconds(10);
};

struct Pool {
  std::size_t idle = 32;  ///< per upstream host:port and io thread
  Duration idle_timeout = std::chrono::seconds(30);
  Duration max_age = std::chrono::seconds(60);  ///< of a connection, varied by up to 20 %
};

struct Shutdown {
  Duration linger{};
  Duration grace = std::chrono::seconds(30);
};

struct Reload {
  bool watch = true;  ///< watch the files for changes
};

enum class LogLevel : std::uint8_t { error, warn, info, debug };
enum class LogFormat : std::uint8_t { automatic, json, text, otel };
enum class LogPath : std::uint8_t { full, route };

struct Log {
  LogLevel level = LogLevel::info;
  LogFormat format = LogFormat::automatic;
  bool access = true;
  LogPath path = LogPath::full;
};

/// The collector that receives spans: OTLP over HTTP or HTTPS.
struct Collector {
  std::string host;  ///< name or literal, without brackets, lower case
  std::uint16_t port = 4318;
  std::string path = "/v1/traces";
  bool tls = false;
  std::optional<std::string> ca_file = {};  ///< the only trusted certificates; absent: the system's
  std::vector<std::pair<std::string, std::string>> headers =
      {};  ///< sent with each batch; values are secrets
  bool operator==(const Collector&) const = default;
};

struct Trace {
  std::optional<Collector> otlp;  ///< absent: no spans
  double sample = 1;  ///< 0 to 1; fraction of the requests without traceparent that succeeded at once
};

/// A whole configuration. Immutable once loaded; shared by all threads.
struct Settings {
  std::vector<Listener> listeners{Listener{}};
  Admin admin;
  std::optional<Parent> parent;
  std::optional<Intercept> intercept;
  std::shared_ptr<const policy::RouteTable> routes;  ///< never null once loaded
  Security security;
  Limits limits;
  Timers timers;
  Pool pool;
  Shutdown shutdown;
  Reload reload;
  Log log;
  Trace trace;
  unsigned threads = 1;
};

}  // namespace reprise::config
