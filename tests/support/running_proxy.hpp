// The whole proxy inside the test program: runs on a thread with the settings of the test, reached over
// loopback.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "config/settings.hpp"
#include "proxy/server/process/proxy.hpp"
#include "tests/support/raw_client.hpp"

namespace reprise::play {

/// Settings of the proxy that a test can change. By default, the wait before the first retry is 1 ms.
struct Wishes {
  policy::RoutePolicy route;
  config::Settings settings;   ///< RunningProxy adds the listeners and routes
  net::Resolver::Query query;  ///< answers name lookups; empty: no name resolves
  forward::FileCalls files = forward::system_file_calls();
  /// Runs the event loop of the proxy's thread; empty: the proxy runs it as usual.
  std::function<void(boost::asio::io_context&)> turn;
  /// How long a tunnel waits for the client's first bytes. A test client may stall for longer than row G7
  /// allows.
  std::optional<Duration> sniff_limit;
  /// Descriptor of the log, owned by the caller; -1: no log.
  int log_descriptor = -1;
  /// Lets the proxy handle SIGTERM, SIGINT and SIGHUP of the test program.
  bool handle_signals = false;
  /// Mode of the first listener, whose port is port().
  config::ListenerMode mode = config::ListenerMode::forward;
  /// CA that issues certificates for the hosts of `settings.intercept`.
  std::shared_ptr<const server::Authority> authority;
  /// Called at a reload; returns the new configuration. Empty: the proxy cannot reload.
  std::function<server::NewConfiguration()> reload;
  /// If not 0: adds a gateway listener whose upstream is 127.0.0.1 at this port.
  std::uint16_t gateway_to = 0;

  Wishes();
};

/// Returns the settings with which a proxy for these wishes starts.
config::Settings whole(const Wishes& wishes);

/// A proxy with one listener, and a gateway listener if requested. Destruction stops it and joins its thread.
class RunningProxy {
 public:
  RunningProxy() : RunningProxy(Wishes()) {}
  explicit RunningProxy(Wishes wishes);
  ~RunningProxy();
  RunningProxy(const RunningProxy&) = delete;
  RunningProxy& operator=(const RunningProxy&) = delete;

  std::uint16_t port() const { return ports_.front(); }
  std::uint16_t gateway_port() const { return ports_[1]; }
  std::uint16_t admin_port() const { return ports_.back(); }
  RawClient client() const { return RawClient(port()); }
  /// Stops the proxy as SIGTERM does. Does not wait.
  void stop() { proxy_->stop(); }
  /// Reloads the configuration as SIGHUP does. Then calls `told` with the result, on another thread.
  void reload(std::function<void(const server::ReloadReport&)> told) { proxy_->reload(std::move(told)); }
  /// Returns the ports of the current configuration.
  std::vector<std::uint16_t> ports_now() const;
  /// Waits until run() has returned.
  void join();
  /// Returns true once run() has returned.
  bool ended() const { return ended_; }
  /// Returns the metrics page.
  std::string metrics() const;
  /// Returns the value of the metric line that begins with `series`; -1 if there is none.
  double metric(std::string_view series) const;

 private:
  int log_ = -1;
  std::unique_ptr<server::Proxy> proxy_;
  std::vector<std::uint16_t> ports_;
  std::atomic<bool> ended_{false};
  std::thread thread_;
};

/// Makes a GET in absolute-form for this authority. `fields` are lines with CRLF.
std::string get(std::string_view authority, std::string_view path = "/", std::string_view fields = {});
/// Makes a request like get(), with another method, and with a body and its Content-Length.
std::string with_body(std::string_view method, std::string_view authority, std::string_view body,
                      std::string_view fields = {});

}  // namespace reprise::play
