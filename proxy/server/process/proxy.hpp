// The whole running proxy: threads, listeners, signals, and a graceful shutdown.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "config/settings.hpp"
#include "proxy/forward/replay/temporary_file.hpp"
#include "proxy/net/io/tick.hpp"
#include "proxy/net/resolve/resolver.hpp"
#include "proxy/net/systemd/inherited_sockets.hpp"
#include "proxy/net/systemd/notify_socket.hpp"
#include "proxy/server/cgroup/cgroup_limits.hpp"
#include "proxy/server/intercept/authority.hpp"
#include "proxy/server/process/file_watch.hpp"
#include "proxy/telemetry/log/access_log.hpp"
#include "proxy/telemetry/log/exchange_record.hpp"

namespace reprise::server {

struct ReloadReport;

/// Result of reading the configuration again.
struct NewConfiguration {
  std::optional<config::Settings> settings;  ///< absent if the file has errors
  std::string hash;
  std::vector<std::string> problems;  ///< each with file:line:col; warnings if `settings` is set, else errors
  std::vector<WatchedFile> files;     ///< files to watch for changes
  /// Returns a message about each file that the configuration names and that cannot be used. If all can be
  /// used, returns only `otherwise`. The function may be empty.
  std::function<std::vector<std::string>(const std::string& otherwise)> file_problems{};
};

struct ProxyOptions {
  std::string version;
  std::string config_file;  ///< file name shown in /status; empty if the built-in defaults are used
  std::string config_hash;
  std::vector<std::string> warnings;  ///< logged when the log starts
  std::vector<std::string> notes;     ///< information, logged when the log starts
  Limits limits;                      ///< for /status
  int log_descriptor = 2;
  telemetry::LogReader log_reader = telemetry::LogReader::stream;
  /// True if the proxy handles signals: SIGTERM, SIGINT and SIGQUIT end the proxy, SIGHUP reloads. Tests call
  /// `stop` and `reload` instead. Precondition if true: `hold_signals` was called.
  bool handle_signals = true;
  /// Called with every finished request, on its io thread. May be empty.
  std::function<void(const telemetry::ExchangeRecord&)> observer;
  /// Authority for intercepted hosts; null: loaded from the files in the settings.
  std::shared_ptr<const Authority> authority;
  net::Resolver::Query query;  ///< empty: names are resolved as configured on this host
  forward::FileCalls files = forward::system_file_calls();
  /// How long to sniff both ends of a tunnel for the protocol; absent: the default of `Shared`.
  std::optional<Duration> sniff_limit;
  /// Reads the configuration again, on a thread that may block. Empty if there is no configuration file.
  std::function<NewConfiguration()> reload;
  std::vector<WatchedFile> watched_files;  ///< files to watch for changes
  WatchTimes watch_times;
  net::NotifySocket notify;  ///< notified when the proxy is ready and when it stops
  /// OpenTelemetry resource attributes of all spans. They override the attributes that reprise sets.
  std::vector<std::pair<std::string, std::string>> resource;
  std::optional<Duration> watchdog;  ///< interval of the watchdog notification; absent: none is sent
  /// Inherited sockets for the listeners at the same addresses. A socket that no listener uses is closed and
  /// logged.
  std::vector<net::InheritedSocket> inherited;
  /// Runs the event loop of an io thread. Tests replace this function to observe the loop.
  std::function<void(asio::io_context&)> turn = [](asio::io_context& io) { io.run(); };
};

/// The constructor binds the listeners; `run` serves.
class Proxy {
 public:
  /// Binds every listener; accepts no connections before `run`. Writes the bundle of `intercept` if it is not
  /// up to date. Throws:
  /// - BindError, which names the listener that cannot be bound;
  /// - ControlError if the control socket cannot be opened;
  /// - TlsSettingsError if a file of a route's `tls` cannot be loaded;
  /// - InterceptError if a file of `intercept` cannot be used.
  Proxy(config::Settings settings, ProxyOptions options);
  ~Proxy();
  Proxy(const Proxy&) = delete;
  Proxy& operator=(const Proxy&) = delete;

  /// Serves until the proxy is stopped. Then returns when all requests have ended or `shutdown.grace` has
  /// passed.
  void run();
  /// Starts the same graceful shutdown as SIGTERM. Thread-safe.
  void stop();
  /// Reloads as SIGHUP does. `done` is called with the result, on another thread. Thread-safe.
  void reload(std::function<void(const ReloadReport&)> done);

  /// Returns the addresses of the listeners in the order of the current configuration; the admin listener is
  /// last.
  std::vector<tcp::endpoint> endpoints() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace reprise::server
