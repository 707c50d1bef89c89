// Everything one configuration says, as values with their
// defaults: listeners, limits, timers, routes as loaded.
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

/// A numeric address and a port; port 0 binds a free one.
struct Endpoint {
  std::string address = "127.0.0.1";  ///< IPv4 or IPv6 literal, without brackets; empty: nothing is bound
  std::uint16_t port = 0;

  bool is_off() const { return address.empty(); }
};

enum class ListenerMode : std::uint8_t { forward, gateway, transparent, socks };
/// Whose Host a gateway's upstream sees.
enum class GatewayHost : std::uint8_t { upstream, client };

/// Whether a gateway changes redirects and cookies of its upstream so that they lead back to it.
enum class GatewayRedirects : std::uint8_t { rewrite, pass };

/// Where a gateway listener sends everything.
struct GatewayUpstream {
  std::string host;  ///< name or literal, without brackets, lower case
  std::uint16_t port = 80;
  bool https = false;       ///< verified TLS; the port is then 443 where none is written
  std::string path_prefix;  ///< "" or "/base", without a slash at the end; put before every path
};

struct Listener {
  ListenerMode mode = ListenerMode::forward;
  Endpoint bind{"127.0.0.1", 3128};
  bool allow_remote = false;  ///< without it `bind` must be loopback
  GatewayUpstream upstream;   ///< gateway only
  GatewayHost host = GatewayHost::upstream;
  GatewayRedirects redirects = GatewayRedirects::rewrite;
  std::size_t line = 0;  ///< in the file, from 1; 0: built-in
};

struct Admin {
  Endpoint bind{"127.0.0.1", 3129};  ///< may be off
  bool allow_remote = false;
  std::optional<std::string> control;  ///< the path of a unix socket that takes commands
};

/// The proxy that everything goes through.
struct Parent {
  std::string host;  ///< name or literal, without brackets, lower case
  std::uint16_t port = 0;
  std::string user;           ///< as written, percent-encoded; empty: it asks for none
  std::string authorization;  ///< a secret: the value of Proxy-Authorization (RFC 7617); empty: none is sent
  /// How it is verified where it is reached over TLS; absent: in clear text.
  std::optional<policy::TlsPolicy> tls{};
  /// Hosts that are reached without the parent: names, `*.suffix`, and networks with a prefix length.
  std::vector<std::string> except{};
};

/// Whose TLS is ended here, and by which authority.
struct Intercept {
  std::vector<policy::HostPattern> hosts;  ///< at least one; exact names and `*.suffix`
  std::string certificate;                 ///< of the authority, a PEM file
  std::string key;                         ///< its private key, a PEM file
  std::optional<std::string> bundle;       ///< PEM, written for applications
};

/// A range of addresses that are never dialled, or the word `self` for the proxy's own listeners.
struct Deny {
  std::vector<std::string> networks{
      "169.254.0.0/16", "100.100.100.200/32", "192.0.0.192/32", "fe80::/10",
      "fd00:ec2::254/128"};  ///< checked CIDR texts; a bare address has /32 or /128
  bool self = true;
};

using PortRanges = std::vector<std::pair<std::uint16_t, std::uint16_t>>;  ///< both ends inclusive

struct Security {
  Deny deny;
  std::optional<PortRanges> connect_ports;  ///< absent: `auto`, by the address of each listener
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
  std::size_t story_bytes = 1024 * 1024;  ///< for each io thread; 0: no stories are kept
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
  Duration max_age = std::chrono::seconds(60);  ///< of a connection, within 20 %
};

struct Shutdown {
  Duration linger{};
  Duration grace = std::chrono::seconds(30);
};

struct Reload {
  bool watch = true;  ///< files are looked at for changes
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

/// Who takes spans: OTLP over HTTP, in clear text.
struct Collector {
  std::string host;  ///< name or literal, without brackets, lower case
  std::uint16_t port = 4318;
  std::string path = "/v1/traces";
  bool tls = false;
  std::optional<std::string> ca_file = {};  ///< the only certificates to trust; absent: the system's
  std::vector<std::pair<std::string, std::string>> headers =
      {};  ///< sent with each batch; values are secrets
  bool operator==(const Collector&) const = default;
};

struct Trace {
  std::optional<Collector> otlp;  ///< absent: no spans
  double sample = 1;              ///< 0 to 1: of requests without a traceparent that went well at once
};

/// Immutable once loaded; shared by all threads.
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
