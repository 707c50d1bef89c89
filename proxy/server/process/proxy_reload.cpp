// How a running proxy takes up another configuration: read and made whole first, then put in force on every
// io thread, each at one moment between two events.
#include <boost/asio/co_spawn.hpp>
#include <condition_variable>
#include <ctime>

#include "proxy/net/tls/tls_client.hpp"
#include "proxy/server/intercept/authority_files.hpp"
#include "proxy/server/process/parts.hpp"
#include "proxy/server/process/start_only.hpp"

namespace reprise::server {
namespace {

/// Waits until so many have arrived.
class Arrivals {
 public:
  void arrive() {
    const std::lock_guard lock(mutex_);
    ++arrived_;
    changed_.notify_all();
  }
  /// Gives up once `given_up` holds, which is looked at now and then.
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

/// The ports of listeners that move, lent for as long as this lives. The acceptors are the first io thread's.
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

std::vector<std::shared_ptr<const forward::ListenerRole>> Proxy::Parts::roles_of(
    const config::Settings& settings, const ListenerSet& listeners) {
  std::vector<std::shared_ptr<const forward::ListenerRole>> roles;
  for (std::size_t i = 0; i < settings.listeners.size(); ++i)
    roles.push_back(std::make_shared<const forward::ListenerRole>(
        forward::role_of(settings.listeners[i], settings.security, listeners.all()[i]->endpoint)));
  return roles;
}

void Proxy::Parts::put_in_force(std::size_t index, const std::shared_ptr<const net::Snapshot>& next,
                                const ListenerSet& wanted,
                                const std::vector<std::shared_ptr<const forward::ListenerRole>>& roles,
                                const ListenerSet* before) {
  forward::Worker& worker = *workers[index];
  worker.take_up(next);
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
                   accept_admin(worker, wanted.admin().admin, page_thread, pages,
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

void Proxy::Parts::put_in_force_everywhere(const Current& next, const Current& before) {
  const auto roles = roles_of(next.snapshot->settings, *next.listeners);
  const auto arrivals = std::make_shared<Arrivals>();
  for (std::size_t i = 0; i < workers.size(); ++i) {
    asio::post(workers[i]->io, [this, i, roles, arrivals, next = next.snapshot, wanted = next.listeners,
                                old = before.listeners] {
      put_in_force(i, next, *wanted, roles, old.get());
      arrivals->arrive();
    });
  }
  arrivals->wait_for(workers.size(), ended);
}

ReloadReport Proxy::Parts::file_failure(const NewConfiguration& read, const std::string& why) {
  if (read.file_problems) return failure(read.file_problems(why));
  return failure({options.config_file + ": error: " + why});
}

// Whatever can fail comes before the first of the threads is told.
ReloadReport Proxy::Parts::take_up(NewConfiguration read) {
  if (!read.settings) return failure(std::move(read.problems));
  const Current before = now();
  Current next = before;
  next.hash = read.hash;
  ReloadReport report{true, read.hash, 0, std::move(read.problems)};
  for (const std::string& path : keep_start_only(before.snapshot->settings, *read.settings))
    report.words.push_back(path + " can only change at a start: it stays as it was until then");
  try {
    std::vector<net::InheritedSocket> none;
    const LentPorts lent(workers.front()->io, before.listeners->moved_by(*read.settings), ended);
    auto listeners = ListenerSet::bind(*read.settings, binding, before.listeners.get(), none);
    next.snapshot = builder.build(std::move(*read.settings), listeners.endpoints(), before.snapshot.get());
    listeners.open_on(workers);
    next.listeners = std::make_shared<const ListenerSet>(std::move(listeners));
    exporter->send_to(next.snapshot->settings.trace.otlp);
  } catch (const net::TlsSettingsError& error) {
    return file_failure(read, error.what());
  } catch (const InterceptError& error) {
    return file_failure(read, error.what());
  } catch (const std::runtime_error& error) {
    return failure({options.config_file + ": error: " + error.what()});
  }
  for (const config::Listener& listener : next.snapshot->settings.listeners) {
    if (listener.mode == config::ListenerMode::transparent) shared->own_dials.watch();
  }
  put_in_force_everywhere(next, before);
  replay.set_limits(next.snapshot->settings.limits);
  log.set(next.snapshot->settings.log);
  metrics.set_config_hash(next.hash, net::Clock::wall_nanoseconds() / 1'000'000'000);
  {
    const std::lock_guard lock(mutex);
    current = next;
  }
  // A shutdown may have closed the listeners of the one before while these came into force.
  if (stopping) {
    for (std::size_t i = 0; i < workers.size(); ++i) {
      asio::post(workers[i]->io, [this, i] {
        if (workers[i]->draining) close_listeners(i);
      });
    }
  }
  std::erase_if(retired, [](const auto& old) { return old.use_count() == 1; });
  retired.push_back(before.snapshot);
  return report;
}

ReloadReport Proxy::Parts::reload() {
  options.notify.tell(reloading_state());
  NewConfiguration read = options.reload();
  std::vector<WatchedFile> files = read.files;
  const bool is_whole = read.settings.has_value();
  ReloadReport report = take_up(std::move(read));
  report.unix_time = net::Clock::wall_nanoseconds() / 1'000'000'000;
  {
    const std::lock_guard lock(mutex);
    report.hash = current.hash;
    current.last = report;
    // Of a file that cannot be read whole it is not known what else it names.
    if (is_whole) {
      current.files = std::move(files);
    } else {
      for (WatchedFile& file : files) {
        const auto is_it = [&](const WatchedFile& other) { return other.path == file.path; };
        if (std::none_of(current.files.begin(), current.files.end(), is_it))
          current.files.push_back(std::move(file));
      }
    }
  }
  metrics.count_reload(report.succeeded ? telemetry::ReloadOutcome::success
                                        : telemetry::ReloadOutcome::failed);
  if (report.succeeded) {
    for (const std::string& warning : report.words) say(config::LogLevel::warn, warning);
    say(config::LogLevel::info, "configuration reloaded, hash " + report.hash);
  } else {
    say(config::LogLevel::error,
        "configuration not reloaded, the one before goes on: " + first_and_count(report.words));
  }
  if (!stopping) options.notify.tell("READY=1\n" + service_status());
  return report;
}

void Proxy::Parts::ask_to_reload(Reloader::Told told) {
  if (reloader != nullptr) return reloader->ask(std::move(told));
  const std::string why = "there is no configuration file to read again";
  say(config::LogLevel::warn, why);
  if (told) told({false, {}, 0, {why}});
}

}  // namespace reprise::server
