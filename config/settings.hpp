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
  std::string address = "127.0.0.1";  ///< IPv4 or IPv6 literal, without brackets; empty if nothing is bound
  std::uint16_t port = 0;

  bool is_off() const { return address.empty(); }
};

enum class ListenerMode : std::uint8_t { forward, gateway, transparent, socks };
/// Returns true for a mode whose listeners forward all requests to one upstream and need the key `upstream`.
constexpr bool has_own_upstream(ListenerMode mode) {
  switch (mode) {
    case ListenerMode::gateway: return true;
    case ListenerMode::forward:
    case ListenerMode::transparent:
    case ListenerMode::socks: break;
  }
  return false;
}

/// Source of the Host that a gateway's upstream receives: the upstream's own name, or the client's Host.
enum class GatewayHost : std::uint8_t { upstream, client };

/// How a gateway treats redirects and cookies of the upstream: rewrites them so that they refer to the
/// gateway, or passes them unchanged.
enum class GatewayRedirects : std::uint8_t { rewrite, pass };

/// The upstream of a gateway listener.
struct GatewayUpstream {
  std::string host;  ///< name or literal, without brackets, lower case
  std::uint16_t port = 80;
  bool https = false;  ///< use TLS and verify the certificate; changes the default port to 443
  /// Prefix of every path that is sent upstream: "/base" without a final slash, or "".
  std::string path_prefix;
};

struct Listener {
  ListenerMode mode = ListenerMode::forward;
  Endpoint bind{"127.0.0.1", 3128};
  bool allow_remote = false;  ///< if false, `bind` must be a loopback address
  bool http2 = true;          ///< clients may use HTTP/2
  GatewayUpstream upstream;   ///< used only by a gateway listener
  GatewayHost host = GatewayHost::upstream;
  GatewayRedirects redirects = GatewayRedirects::rewrite;
  std::size_t line = 0;  ///< line in the file, counted from 1; 0 for a built-in listener
};

struct Admin {
  Endpoint bind{"127.0.0.1", 3129};  ///< the address is empty if the admin listener is off
  bool allow_remote = false;
  std::optional<std::string> control;  ///< path of a unix socket for commands
};

/// The parent proxy, through which all requests go.
struct Parent {
  std::string host;  ///< name or literal, without brackets, lower case
  std::uint16_t port = 0;
  std::string user;           ///< percent-encoded as in the file; empty if there are no credentials
  std::string authorization;  ///< value of Proxy-Authorization (RFC 7617), a secret; empty: not sent
  /// How the parent's certificate is verified. Absent if the parent is reached by plain HTTP.
  std::optional<policy::TlsPolicy> tls{};
  /// Hosts that are reached without the parent: names, `*.suffix`, and networks with a prefix length.
  std::vector<std::string> except{};
};

/// The hosts whose TLS is intercepted, and the files of the local authority.
struct Intercept {
  std::vector<policy::HostPattern> hosts;  ///< at least one pattern: an exact name or `*.suffix`
  std::string certificate;                 ///< certificate of the authority, a PEM file
  std::string key;                         ///< private key of the authority, a PEM file
  std::optional<std::string>
      bundle;  ///< PEM file of trusted certificates that the proxy writes for applications
};

/// The networks that are never dialled, and whether the proxy's own listeners are denied too (`self`).
struct Deny {
  std::vector<std::string> networks{
      "169.254.0.0/16", "100.100.100.200/32", "192.0.0.192/32", "fe80::/10",
      "fd00:ec2::254/128"};  ///< valid CIDR texts; the prefix length of a single address is /32 or /128
  bool self = true;
};

using PortRanges = std::vector<std::pair<std::uint16_t, std::uint16_t>>;  ///< both ends included

struct Security {
  Deny deny;
  /// Absent for `auto`: the ports then depend on each listener's address.
  std::optional<PortRanges> connect_ports;
};

struct Limits {
  std::size_t connections = 4096;
  std::size_t admin_connections = 64;
  std::size_t header_bytes = 64 * 1024;
  std::size_t header_fields = 256;
  std::size_t target_bytes = 64 * 1024;
  std::size_t request_body_bytes = policy::no_size_limit;
  std::size_t replay_memory_bytes = 64 * 1024 * 1024;
  /// Maximum size of all bytes that HTTP/2 connections have received and not yet passed on.
  std::size_t stream_memory_bytes = 64 * 1024 * 1024;
  unsigned streams = 100;  ///< streams that one HTTP/2 connection of a client may have open
  std::uint64_t replay_disk_bytes = 1024 * 1024 * 1024;
  std::string replay_folder = "/tmp";
  std::size_t kept_response_bytes = 64 * 1024;
  std::size_t upstreams = 1024;
  /// Maximum size of the request history of an io thread; 0: no history.
  std::size_t history_bytes = 1024 * 1024;
  std::size_t labelled_upstreams = 32;
};

struct Timers {
  Duration header = std::chrono::seconds(10);
  Duration keep_alive = std::chrono::minutes(5);
  Duration handshake = std::chrono::seconds(10);
};

struct Pool {
  /// Maximum number of idle connections to one upstream (host:port), for each io thread.
  std::size_t idle = 32;
  Duration idle_timeout = std::chrono::seconds(30);
  Duration max_age =
      std::chrono::seconds(60);  ///< maximum age of a connection; varied at random by up to 20 %
  /// Maximum number of HTTP/2 connections to one upstream, for each io thread. Beyond it, clients share them.
  std::size_t http2_connections = 32;
};

struct Shutdown {
  Duration linger{};
  Duration grace = std::chrono::seconds(30);
};

struct Reload {
  bool watch = true;  ///< reload when the configuration or a file that it names changes
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
  std::optional<std::string> ca_file =
      {};  ///< PEM file with all trusted certificates; absent: those of the system
  std::vector<std::pair<std::string, std::string>> headers =
      {};  ///< HTTP header fields to send with each batch of spans; values are secrets
  bool operator==(const Collector&) const = default;
};

struct Trace {
  std::optional<Collector> otlp;  ///< absent: no spans are sent
  /// Fraction (0 to 1) of requests that get spans. Applies only to requests that have no traceparent and
  /// succeed at the first attempt.
  double sample = 1;
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
