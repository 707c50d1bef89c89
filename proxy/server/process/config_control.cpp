#include "proxy/server/process/config_control.hpp"

#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <condition_variable>
#include <ctime>

#include "proxy/net/systemd/status_line.hpp"
#include "proxy/net/tls/tls_client.hpp"
#include "proxy/net/upstream/address.hpp"
#include "proxy/server/intercept/authority_files.hpp"
#include "proxy/server/process/start_only.hpp"

namespace reprise::server {
namespace {

/// Waits until a number of threads have arrived.
class Arrivals {
 public:
  void arrive() {
    const std::lock_guard lock(mutex_);
    ++arrived_;
    changed_.notify_all();
  }
  /// Waits until `all` threads have arrived, or until `given_up` is true, which is checked every 20 ms.
  void wait_for(std::size_t all, const std::atomic<bool>& given_up) {
    constexpr auto now_and_then = std::chrono::milliseconds(20);
    std::unique_lock lock(mutex_);
    while (!changed_.wait_for(lock, now_and_then, [&] { return arrived_ == all; }) && !given_up) continue;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t arrived_ = 0;
};

/// Lends the ports of listeners that move to another address: during the lifetime of this object, the new
/// listeners can bind these ports. The acceptors belong to the first io thread.
class LentPorts {
 public:
  LentPorts(asio::io_context& io, std::vector<std::shared_ptr<BoundListener>> listeners,
            const std::atomic<bool>& given_up)
      : io_(io), listeners_(std::move(listeners)) {
    if (listeners_.empty()) return;
    const auto arrivals = std::make_shared<Arrivals>();
    asio::post(io_, [listeners = listeners_, arrivals] {
      for (const auto& each : listeners) each->lend(forward::Port::lent);
      arrivals->arrive();
    });
    arrivals->wait_for(1, given_up);
  }
  ~LentPorts() {
    if (listeners_.empty()) return;
    asio::post(io_, [listeners = listeners_] {
      for (const auto& each : listeners) each->lend(forward::Port::own);
    });
  }
  LentPorts(const LentPorts&) = delete;
  LentPorts& operator=(const LentPorts&) = delete;

 private:
  asio::io_context& io_;
  const std::vector<std::shared_ptr<BoundListener>> listeners_;
};

std::string reloading_state() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  const auto microseconds = static_cast<std::int64_t>(now.tv_sec) * 1'000'000 + now.tv_nsec / 1000;
  return "RELOADING=1\nMONOTONIC_USEC=" + std::to_string(microseconds);
}

ReloadReport failure(std::vector<std::string> words) { return {false, {}, 0, std::move(words)}; }

std::string first_and_count(const std::vector<std::string>& words) {
  if (words.empty()) return {};
  return words.size() == 1 ? words.front()
                           : words.front() + " (and " + std::to_string(words.size() - 1) + " more)";
}

}  // namespace

std::vector<std::string> described_listeners(const CurrentConfig& current) {
  const config::Settings& settings = current.snapshot->settings;
  const auto& bound = current.listeners->all();
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < bound.size(); ++i) {
    const std::string_view mode = bound[i]->is_admin ? "admin" : forward::word(settings.listeners[i].mode);
    lines.push_back(forward::describe(mode, bound[i]->endpoint));
  }
  return lines;
}

std::string service_status(const CurrentConfig& current, bool leaving) {
  const ReloadReport& last = current.last;
  net::ServiceState state{current.snapshot->settings.routes->size() - 1, {}, leaving, last.unix_time, {}};
  if (last.unix_time != 0 && !last.succeeded)
    state.why_not = last.words.empty() ? "no reason is known" : last.words.front();
  state.listeners = described_listeners(current);
  return "STATUS=" + net::status_line(state);
}

ConfigControl::ConfigControl(Runtime& runtime, config::Settings given)
    : runtime_(runtime),
      builder_(runtime.metrics, runtime.log, runtime.options.authority, runtime.options.config_file) {
  const ProxyOptions& options = runtime_.options;
  std::vector<net::InheritedSocket> inherited = options.inherited;
  auto listeners = ListenerSet::bind(given, binding_, nullptr, inherited);
  close_unwanted(inherited);
  note_own_dials(given);
  const unsigned threads = given.threads;
  const std::size_t admins = given.limits.admin_connections;
  if (const std::size_t allowed = net::admin_allowed(admins); allowed < admins)
    runtime_.log_message(config::LogLevel::warn,
                         "limits.admin_connections is lowered from " + std::to_string(admins) + " to " +
                             std::to_string(allowed) + ": the limit of open files allows no more");
  current_.snapshot = builder_.build(std::move(given), listeners.endpoints(), nullptr);
  runtime_.make_workers(threads, current_.snapshot);
  listeners.open_on(runtime_.workers);
  current_.listeners = std::make_shared<const ListenerSet>(std::move(listeners));
  current_.hash = options.config_hash;
  current_.files = options.watched_files;
  if (options.reload)
    reloader_ = std::make_unique<Reloader>([this] { return reload(); }, [this] { return watched_files(); },
                                           options.watch_times);
}

ConfigControl::~ConfigControl() {
  stop();
  builder_.stop();
}

void ConfigControl::close_unwanted(const std::vector<net::InheritedSocket>& inherited) {
  for (const net::InheritedSocket& left : inherited) {
    runtime_.log_message(config::LogLevel::warn,
                         "closed a socket from the service manager, because no listener uses its address: " +
                             net::endpoint_text(left.bound));
    ::close(left.descriptor);
  }
}

// If there is a transparent listener, starts recording the connections that this process dials, so that the
// listener recognises them.
void ConfigControl::note_own_dials(const config::Settings& settings) {
  for (const config::Listener& listener : settings.listeners) {
    if (forward::mode_of(listener.mode).may_meet_own_dials()) runtime_.shared->own_dials.watch();
  }
}

CurrentConfig ConfigControl::now() const {
  const std::lock_guard lock(mutex_);
  return current_;
}

void ConfigControl::begin(AdminPages pages) {
  pages_ = std::move(pages);
  const auto roles = roles_of(current_.snapshot->settings, *current_.listeners);
  for (std::size_t i = 0; i < runtime_.workers.size(); ++i)
    apply_to_worker(i, current_.snapshot, *current_.listeners, roles, nullptr);
}

void ConfigControl::watch() {
  if (reloader_) reloader_->start();
}

void ConfigControl::stop() {
  if (reloader_) reloader_->stop();
}

void ConfigControl::close_listeners(std::size_t index) {
  forward::Worker& worker = *runtime_.workers[index];
  for (const auto& bound : now().listeners->all()) {
    if (!bound->on_threads.empty()) forward::close_listener(worker, bound->on_threads[index]);
  }
  forward::drain(worker);
}

std::vector<WatchedFile> ConfigControl::watched_files() const {
  CurrentConfig current = now();
  if (!current.snapshot->settings.reload.watch) return {};
  return std::move(current.files);
}

ConfigControl::Roles ConfigControl::roles_of(const config::Settings& settings, const ListenerSet& listeners) {
  Roles roles;
  for (std::size_t i = 0; i < settings.listeners.size(); ++i)
    roles.push_back(std::make_shared<const forward::ListenerRole>(
        forward::role_of(settings.listeners[i], settings.security, listeners.all()[i]->endpoint)));
  return roles;
}

void ConfigControl::apply_to_worker(std::size_t index, const std::shared_ptr<const net::Snapshot>& next,
                                    const ListenerSet& wanted, const Roles& roles,
                                    const ListenerSet* before) {
  forward::Worker& worker = *runtime_.workers[index];
  worker.apply(next);
  ErrorCode ignored;
  for (std::size_t i = 0; i < roles.size(); ++i) {
    const std::shared_ptr<forward::Listener>& listener = wanted.all()[i]->on_threads[index];
    const bool is_new = listener->role == nullptr;
    listener->role = roles[i];
    if (is_new && worker.draining) listener->acceptor->close(ignored);
    if (is_new) asio::co_spawn(worker.io, forward::accept_clients(worker, listener), or_abort);
  }
  const bool new_admin = wanted.has_admin() && (before == nullptr || !before->has(wanted.admin()));
  if (index == 0 && new_admin) {
    const std::size_t most = next->settings.limits.admin_connections;
    asio::co_spawn(worker.io,
                   accept_admin(worker, wanted.admin().admin, runtime_.page_thread, pages_,
                                std::min(most, net::admin_allowed(most))),
                   or_abort);
  }
  if (before == nullptr) return;
  for (const auto& old : before->all()) {
    if (wanted.has(*old)) continue;
    if (index == 0 && old->admin != nullptr) old->admin->close(ignored);
    if (!old->on_threads.empty()) forward::close_listener(worker, old->on_threads[index]);
  }
}

void ConfigControl::apply_to_all(const CurrentConfig& next, const CurrentConfig& before) {
  const auto roles = roles_of(next.snapshot->settings, *next.listeners);
  const auto arrivals = std::make_shared<Arrivals>();
  for (std::size_t i = 0; i < runtime_.workers.size(); ++i) {
    asio::post(runtime_.workers[i]->io, [this, i, roles, arrivals, next = next.snapshot,
                                         wanted = next.listeners, old = before.listeners] {
      apply_to_worker(i, next, *wanted, roles, old.get());
      arrivals->arrive();
    });
  }
  arrivals->wait_for(runtime_.workers.size(), runtime_.phase.ended);
}

ReloadReport ConfigControl::file_failure(const NewConfiguration& read, const std::string& why) {
  if (read.file_problems) return failure(read.file_problems(why));
  return failure({runtime_.options.config_file + ": error: " + why});
}

// Applies a configuration. Every step that can fail comes before the first io thread gets the new
// configuration.
ReloadReport ConfigControl::apply(NewConfiguration read) {
  if (!read.settings) return failure(std::move(read.problems));
  const CurrentConfig before = now();
  CurrentConfig next = before;
  next.hash = read.hash;
  ReloadReport report{true, read.hash, 0, std::move(read.problems)};
  for (const std::string& path : keep_start_only(before.snapshot->settings, *read.settings))
    report.words.push_back(path + " can only change at a restart: the running value is kept until then");
  try {
    std::vector<net::InheritedSocket> none;
    const LentPorts lent(runtime_.workers.front()->io, before.listeners->moved_by(*read.settings),
                         runtime_.phase.ended);
    auto listeners = ListenerSet::bind(*read.settings, binding_, before.listeners.get(), none);
    next.snapshot = builder_.build(std::move(*read.settings), listeners.endpoints(), before.snapshot.get());
    listeners.open_on(runtime_.workers);
    next.listeners = std::make_shared<const ListenerSet>(std::move(listeners));
    runtime_.exporter->send_to(next.snapshot->settings.trace.otlp);
  } catch (const net::TlsSettingsError& error) {
    return file_failure(read, error.what());
  } catch (const InterceptError& error) {
    return file_failure(read, error.what());
  } catch (const std::runtime_error& error) {
    return failure({runtime_.options.config_file + ": error: " + error.what()});
  }
  note_own_dials(next.snapshot->settings);
  apply_to_all(next, before);
  runtime_.replay.set_limits(next.snapshot->settings.limits);
  runtime_.stream_memory.set_most(next.snapshot->settings.limits.stream_memory_bytes);
  runtime_.log.set(next.snapshot->settings.log);
  runtime_.metrics.set_config_hash(next.hash, net::Clock::wall_nanoseconds() / 1'000'000'000);
  {
    const std::lock_guard lock(mutex_);
    current_ = next;
  }
  // A shutdown may have closed the previous configuration's listeners while the new ones were applied.
  if (runtime_.phase.stopping) {
    for (std::size_t i = 0; i < runtime_.workers.size(); ++i) {
      asio::post(runtime_.workers[i]->io, [this, i] {
        if (runtime_.workers[i]->draining) close_listeners(i);
      });
    }
  }
  std::erase_if(retired_, [](const auto& old) { return old.use_count() == 1; });
  retired_.push_back(before.snapshot);
  return report;
}

// Precondition: the mutex is held. If the configuration file could not be read completely, some files that it
// names are unknown, so the old list is extended.
void ConfigControl::note_files(std::vector<WatchedFile> files, bool is_whole) {
  if (is_whole) {
    current_.files = std::move(files);
    return;
  }
  for (WatchedFile& file : files) {
    const auto is_it = [&](const WatchedFile& other) { return other.path == file.path; };
    if (std::none_of(current_.files.begin(), current_.files.end(), is_it))
      current_.files.push_back(std::move(file));
  }
}

ReloadReport ConfigControl::reload() {
  runtime_.options.notify.send(reloading_state());
  NewConfiguration read = runtime_.options.reload();
  std::vector<WatchedFile> files = read.files;
  const bool is_whole = read.settings.has_value();
  ReloadReport report = apply(std::move(read));
  report.unix_time = net::Clock::wall_nanoseconds() / 1'000'000'000;
  {
    const std::lock_guard lock(mutex_);
    report.hash = current_.hash;
    current_.last = report;
    note_files(std::move(files), is_whole);
  }
  runtime_.metrics.count_reload(report.succeeded ? telemetry::ReloadOutcome::success
                                                 : telemetry::ReloadOutcome::failed);
  if (report.succeeded) {
    for (const std::string& warning : report.words) runtime_.log_message(config::LogLevel::warn, warning);
    runtime_.log_message(config::LogLevel::info, "configuration reloaded, hash " + report.hash);
  } else {
    runtime_.log_message(config::LogLevel::error, "reload failed, keeping the previous configuration: " +
                                                      first_and_count(report.words));
  }
  if (!runtime_.phase.stopping)
    runtime_.options.notify.send("READY=1\n" + service_status(now(), runtime_.phase.leaving));
  return report;
}

void ConfigControl::ask_to_reload(Reloader::Done done) {
  if (reloader_ != nullptr) return reloader_->ask(std::move(done));
  const std::string why = "cannot reload: reprise was started without a configuration file";
  runtime_.log_message(config::LogLevel::warn, why);
  if (done) done({false, {}, 0, {why}});
}

}  // namespace reprise::server
