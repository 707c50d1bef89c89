// The whole proxy inside the test program: settings made by hand, run on a thread, reached over loopback.
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

/// What a test wants different from the defaults. The defaults wait a millisecond between attempts.
struct Wishes {
  policy::RoutePolicy route;
  config::Settings settings;   ///< listeners and routes are filled by RunningProxy
  net::Resolver::Query query;  ///< empty: no name resolves
  forward::FileCalls files = forward::system_file_calls();
  /// How the proxy's thread runs its loop; empty: as always.
  std::function<void(boost::asio::io_context&)> turn;
  /// How long a tunnel waits for first words: a client that
  /// means to speak may stall for longer than row G7 allows.
  std::optional<Duration> sniff_limit;
  /// Where the log goes; the caller's. -1: nowhere.
  int log_descriptor = -1;
  /// SIGTERM, SIGINT and SIGHUP of the test program are the proxy's.
  bool handle_signals = false;
  /// Of what first: as the listener that `port()` is.
  config::ListenerMode mode = config::ListenerMode::forward;
  /// Who signs for the hosts of `settings.intercept`.
  std::shared_ptr<const server::Authority> authority;
  /// What it reads when it is told to reload; empty: there is nothing to read.
  std::function<server::NewConfiguration()> reload;
  /// Non-zero: a second, gateway listener for 127.0.0.1 and that port.
  std::uint16_t gateway_to = 0;

  Wishes();
};

/// The settings that a proxy with these wishes begins with.
config::Settings whole(const Wishes& wishes);

/// One forward listener, and a gateway where wished. Destruction stops it and joins its thread.
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
  /// SIGTERM's doing; does not wait.
  void stop() { proxy_->stop(); }
  /// SIGHUP's doing; `told` is called on another thread.
  void reload(std::function<void(const server::ReloadReport&)> told) { proxy_->reload(std::move(told)); }
  /// Those of the configuration in force.
  std::vector<std::uint16_t> ports_now() const;
  /// Waits until `run` has returned.
  void join();
  /// True once `run` has returned.
  bool ended() const { return ended_; }
  /// The metrics page.
  std::string metrics() const;
  /// The value of the metric line that starts with `series`; -1 if there is none.
  double metric(std::string_view series) const;

 private:
  int log_ = -1;
  std::unique_ptr<server::Proxy> proxy_;
  std::vector<std::uint16_t> ports_;
  std::atomic<bool> ended_{false};
  std::thread thread_;
};

/// A GET to that authority in absolute form; `fields` with their CRLF.
std::string get(std::string_view authority, std::string_view path = "/", std::string_view fields = {});
/// The same with a method and a counted body.
std::string with_body(std::string_view method, std::string_view authority, std::string_view body,
                      std::string_view fields = {});

}  // namespace reprise::play
