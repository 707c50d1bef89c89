// What a running proxy is made of; only the files of Proxy see it.
#pragma once

#include <atomic>
#include <boost/asio/thread_pool.hpp>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "proxy/net/resolve/name_service.hpp"
#include "proxy/net/systemd/status_line.hpp"
#include "proxy/server/admin/admin.hpp"
#include "proxy/server/admin/control_socket.hpp"
#include "proxy/server/process/listener_set.hpp"
#include "proxy/server/process/proxy.hpp"
#include "proxy/server/process/reloader.hpp"
#include "proxy/server/process/signals.hpp"
#include "proxy/server/process/snapshot_builder.hpp"
#include "proxy/server/trace_export/span_exporter.hpp"
#include "proxy/telemetry/metrics/status.hpp"

namespace reprise::server {

struct Proxy::Parts {
  /// What is in force.
  struct Current {
    std::shared_ptr<const net::Snapshot> snapshot;
    std::shared_ptr<const ListenerSet> listeners;
    std::string hash;
    std::vector<WatchedFile> files;
    ReloadReport last;  ///< reload
  };

  Parts(config::Settings given, ProxyOptions given_options);
  ~Parts();
  Parts(const Parts&) = delete;
  Parts& operator=(const Parts&) = delete;

  void say(config::LogLevel level, std::string_view text) {
    log.message(level, text, net::Clock::wall_nanoseconds());
  }
  Current now() const {
    const std::lock_guard lock(mutex);
    return current;
  }
  telemetry::TraceResource resource() const;
  /// The line for the service manager, as STATUS=.
  std::string service_status() const;
  void close_unwanted(const std::vector<net::InheritedSocket>&);
  void begin();

  /// On that worker's thread: its requests begin under `next`, its clients come through `wanted`.
  void put_in_force(std::size_t index, const std::shared_ptr<const net::Snapshot>& next,
                    const ListenerSet& wanted,
                    const std::vector<std::shared_ptr<const forward::ListenerRole>>& roles,
                    const ListenerSet* before);
  void put_in_force_everywhere(const Current& next, const Current& before);
  /// On the reloader's thread.
  ReloadReport reload();
  ReloadReport take_up(NewConfiguration);
  ReloadReport file_failure(const NewConfiguration&, const std::string& why);
  void ask_to_reload(Reloader::Told told);

  Task<void> shut_down();
  Task<void> wait_for_sessions(Instant limit);
  void close_listeners(std::size_t index);
  /// The last listener to be closed; who reads /events is told.
  Task<void> close_admin();
  /// What SIGTERM does; a second one does not wait for anybody.
  void stop();
  void stop_now();
  /// Asks to be left: not ready any more, and every response ends its connection.
  void leave();
  /// Undoes `leave`.
  void come_back();
  void end_connections_politely();

  /// What the control socket obeys, on the first io thread.
  ControlSocket::Commands commands();
  ControlResponse set_log_level(std::string_view level);
  ControlResponse pause(std::string_view host, std::string_view how_long);

  static std::vector<std::shared_ptr<const forward::ListenerRole>> roles_of(const config::Settings&,
                                                                            const ListenerSet&);
  telemetry::StatusFacts status_facts(const Current&);
  void add_minute(telemetry::StatusFacts&, const Current&) const;
  std::vector<telemetry::StatusFacts::Upstream> upstream_facts();
  std::string status();
  std::string status_words();
  /// YAML that loads to the configuration in force, without secrets, with comments that running.hpp reads.
  std::string effective_configuration();
  /// None if `reload.watch` is off.
  std::vector<WatchedFile> watched_files() const;
  std::string metrics_text(telemetry::Exposition);
  /// What would change how it ended; empty: nothing, or its route is gone.
  std::string advice_for(const telemetry::Story&) const;
  /// A JSON array of those that are worth telling, the newest last.
  std::string newest_stories() const;
  /// On the page thread: for readers of /events.
  Edition edition(bool whole);
  void append_new_stories(std::string& events);
  /// By an id (Stories::find); absent: it is gone, or never was.
  std::optional<std::string> story(std::string_view id, StoryForm) const;

  const ProxyOptions options;
  telemetry::Metrics metrics;
  telemetry::Log log;
  net::BudgetTable budgets;
  net::HostGuards host_guards;
  forward::ReplayStore replay;
  std::optional<telemetry::Stories> stories;
  SnapshotBuilder builder;
  forward::EventLoop binding{1};
  std::unique_ptr<forward::Shared> shared;
  std::vector<std::unique_ptr<forward::Worker>> workers;
  telemetry::SpanQueues spans;
  std::unique_ptr<SpanExporter> exporter;   ///< on a thread of its own, once there is a collector
  std::unique_ptr<net::NameService> names;  ///< null where the options say how names are looked up
  std::unique_ptr<net::Resolver> resolver;  ///< goes before the loops that its waiters run on
  asio::thread_pool page_thread{1};
  AdminPages pages;
  std::unique_ptr<Signals> signals;
  std::unique_ptr<ControlSocket> control;  ///< null: no such listener
  mutable std::mutex mutex;
  Current current;  ///< under the mutex
  std::vector<std::shared_ptr<const net::Snapshot>>
      retired;                         ///< the reloader's: freed there, not on an io thread
  std::unique_ptr<Reloader> reloader;  ///< null: there is nothing to reload
  /// What the edition before has told readers of; the page thread's.
  struct Edited {
    std::string hash;
    std::vector<std::uint64_t> requests;  ///< by route
    std::vector<std::uint64_t> stories;   ///< their numbers
  };
  Edited edition_before;
  std::atomic<bool> ready{false};
  std::atomic<bool> stopping{false};
  std::atomic<bool> leaving{false};
  std::atomic<std::size_t> listening{
      0};                            ///< threads that have not closed their listeners, once they are told to
  std::atomic<bool> hurried{false};  ///< nobody is waited for any more
  std::atomic<bool> ended{false};    ///< the loops: nothing that is posted to them is done
  std::int64_t started_unix = net::Clock::wall_nanoseconds() / 1'000'000'000;
  const Instant started = net::Tick::now();
};

}  // namespace reprise::server
