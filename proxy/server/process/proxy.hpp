// The whole running proxy: threads, listeners, signals, and an orderly end.
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

/// A configuration as it was read while running.
struct NewConfiguration {
  std::optional<config::Settings> settings;  ///< absent: it is not to be used
  std::string hash;
  std::vector<std::string> problems;  ///< with file:line:col; warnings where there are settings
  std::vector<WatchedFile> files;     ///< whose change is to be noticed
  /// Lines about each file that it names and that cannot be used; the given text if there is none. May be
  /// empty.
  std::function<std::vector<std::string>(const std::string& otherwise)> file_problems{};
};

struct ProxyOptions {
  std::string version;
  std::string config_file;  ///< for /status; empty: built-in defaults
  std::string config_hash;
  std::vector<std::string> warnings;  ///< said when the log begins
  std::vector<std::string> notes;     ///< the same, of what is no fault
  Limits limits;                      ///< for /status
  int log_descriptor = 2;
  telemetry::LogReader log_reader = telemetry::LogReader::stream;
  /// SIGTERM, SIGINT and SIGQUIT end it, SIGHUP reloads; tests call `stop` and `reload` instead. Precondition
  /// of true: `hold_signals` was called.
  bool handle_signals = true;
  /// Told of every finished request, on its io thread; empty: nobody is.
  std::function<void(const telemetry::ExchangeRecord&)> witness;
  /// Who signs for intercepted hosts, if not the files of the settings.
  std::shared_ptr<const Authority> authority;
  net::Resolver::Query query;  ///< empty: as this host resolves names
  forward::FileCalls files = forward::system_file_calls();
  /// How long a tunnel's ends are listened to; absent: as `Shared` says.
  std::optional<Duration> first_words_limit;
  /// Reads the configuration again, on a thread that may wait; empty: there is nothing to read.
  std::function<NewConfiguration()> reload;
  std::vector<WatchedFile> watched_files;  ///< whose change is to be noticed
  WatchTimes watch_times;
  net::NotifySocket notify;  ///< told when it is ready, and when it stops
  /// Attributes of the resource of all spans; they win over our own.
  std::vector<std::pair<std::string, std::string>> resource;
  std::optional<Duration> watchdog;  ///< how often it is told that every io thread turns its loop
  /// Of listeners at these addresses; those that are nobody's are closed, and told in the log.
  std::vector<net::InheritedSocket> inherited;
  /// How an io thread runs its loop; tests look on.
  std::function<void(asio::io_context&)> turn = [](asio::io_context& io) { io.run(); };
};

/// Binds in its constructor, works in `run`.
class Proxy {
 public:
  /// Binds every listener; throws BindError naming the one that cannot be bound, ControlError where the
  /// control socket cannot be had, and TlsSettingsError where a file of a route's `tls` cannot be loaded,
  /// InterceptError where one of `intercept` cannot be used. Writes the bundle of `intercept` where it is not
  /// as it has to be. Nothing is accepted before `run`.
  Proxy(config::Settings settings, ProxyOptions options);
  ~Proxy();
  Proxy(const Proxy&) = delete;
  Proxy& operator=(const Proxy&) = delete;

  /// Serves until told to stop and everything in flight has ended, or shutdown.grace is over.
  void run();
  /// What SIGTERM does. Thread-safe.
  void stop();
  /// What SIGHUP does; `told` is called once it is over, on a thread of its own. Thread-safe.
  void reload(std::function<void(const ReloadReport&)> told);

  /// Where the listeners are bound, in the order of the settings in force; then the admin listener.
  std::vector<tcp::endpoint> endpoints() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace reprise::server
