#include "proxy/server/proxy.hpp"

#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/thread_pool.hpp>
#include <thread>

#include "proxy/http/rejection.hpp"
#include "proxy/intercept/authority_files.hpp"
#include "proxy/intercept/leaves.hpp"
#include "proxy/intercept/secret_memory.hpp"
#include "proxy/intercept/trust.hpp"
#include "proxy/io/descriptors.hpp"
#include "proxy/observe/status.hpp"
#include "proxy/resolve/name_service.hpp"
#include "proxy/server/admin.hpp"
#include "proxy/server/gauges.hpp"
#include "proxy/server/labels.hpp"
#include "proxy/server/listen.hpp"
#include "proxy/server/pseudonym.hpp"
#include "proxy/server/signals.hpp"
#include "proxy/server/watchdog.hpp"
#include "proxy/tls/tls_client.hpp"
#include "proxy/upstream/address.hpp"

namespace reprise::net {

/// A listener and its acceptor on every io thread.
struct Doorway {
  ListenerRole role;
  std::vector<tcp::acceptor> acceptors;
};

struct Proxy::Parts {
  Parts(config::Settings given, ProxyOptions given_options);
  /// No job of another thread comes back to a loop that is gone.
  ~Parts() {
    replay.stop();
    if (leaves) leaves->stop();
  }
  Parts(const Parts&) = delete;
  Parts& operator=(const Parts&) = delete;

  void bind();
  void prepare_interception();
  /// What the limit of open files leaves of that key; told where it is less.
  std::size_t lowered(std::string_view key, std::size_t wanted, std::size_t allowed);
  void open_doors(std::size_t index);
  void say(config::LogLevel level, std::string_view text) {
    log.message(level, text, Clock::wall_nanoseconds());
  }
  Task<void> shut_down();
  Task<void> wait_for_sessions(Instant limit);
  void drain(std::size_t index);
  void stop();
  std::string status();
  std::string metrics_text();

  const config::Settings settings;
  const ProxyOptions options;
  observe::Metrics metrics;
  observe::Log log;
  BudgetTable budgets;
  HostGuards host_guards;
  ReplayStore replay;
  TlsClients tls;
  std::unique_ptr<Leaves> leaves;  ///< null: nothing is intercepted
  EventLoop binding{1};
  std::vector<tcp::endpoint> endpoints;  ///< in the order of the listeners; admin last
  std::vector<tcp::acceptor> bound;      ///< the same
  std::unique_ptr<AddressFilter> filter;
  std::unique_ptr<Shared> shared;
  std::vector<std::unique_ptr<Worker>> workers;
  std::unique_ptr<NameService> names;  ///< null where the options say how names are looked up
  std::unique_ptr<Resolver> resolver;  ///< goes before the loops that its waiters run on
  std::vector<Doorway> doorways;
  std::unique_ptr<tcp::acceptor> admin;
  asio::thread_pool helper{1};
  AdminPages pages;
  std::unique_ptr<Signals> signals;
  std::atomic<bool> ready{false};
  std::atomic<bool> stopping{false};
  std::int64_t started_unix = Clock::wall_nanoseconds() / 1'000'000'000;
};

Proxy::Parts::Parts(config::Settings given, ProxyOptions given_options)
    : settings(std::move(given)),
      options(std::move(given_options)),
      metrics(route_names(*settings.routes), http::all_words(), options.version, labels_of(settings)),
      log(settings.log, route_names(*settings.routes), options.log_descriptor, options.log_to_terminal),
      budgets(settings.limits.upstreams),
      host_guards(settings.limits.upstreams),
      replay(settings.limits, options.files, metrics, log),
      tls(*settings.routes, settings.parent && settings.parent->tls ? &*settings.parent->tls : nullptr) {
  metrics.set_config_hash(options.config_hash);
  for (const std::string& warning : options.warnings) say(config::LogLevel::warn, warning);
  prepare_interception();
  bind();
  Resolver::Limits limits;
  limits.names = settings.limits.upstreams;
  if (!options.query) names = std::make_unique<NameService>();
  resolver = std::make_unique<Resolver>(names ? names->query() : options.query, limits, metrics);
  filter = std::make_unique<AddressFilter>(settings.security.deny, endpoints);
  const config::Limits& most = settings.limits;
  const std::size_t most_clients =
      lowered("limits.connections", most.connections, clients_allowed(most.admin_connections));
  // NOLINTNEXTLINE(modernize-make-unique): clang 14 cannot initialise an aggregate through it.
  shared.reset(new Shared{settings, metrics, log, budgets, host_guards, *resolver, replay, *filter, tls,
                          make_pseudonym(), most_clients});
  shared->witness = options.witness;
  shared->client_tls = leaves.get();
  for (const config::Listener& listener : settings.listeners) {
    if (listener.mode == config::ListenerMode::transparent) shared->own_dials.watch();
  }
  if (options.first_words_limit) shared->first_words_limit = *options.first_words_limit;
  for (unsigned i = 0; i < settings.threads; ++i)
    workers.push_back(std::make_unique<Worker>(*shared, random_number()));
  for (std::size_t i = 0; i < settings.listeners.size(); ++i)
    doorways.push_back({role_of(settings.listeners[i], settings.security, endpoints[i]), {}});
  for (std::size_t i = 0; i < workers.size(); ++i) open_doors(i);
  admin = std::make_unique<tcp::acceptor>(duplicate(workers.front()->io, bound.back()));
  bound.clear();
  pages = {[this] { return ready.load(); }, [this] { return status(); }, [this] { return metrics_text(); }};
}

void Proxy::Parts::prepare_interception() {
  if (!settings.intercept) return;
  const config::Intercept& intercept = *settings.intercept;
  if (!reserve_secret_memory())
    say(config::LogLevel::warn,
        "the memory of private keys cannot be locked (ulimit -l): it may be swapped out");
  const std::int64_t now = Clock::wall_nanoseconds() / 1'000'000'000;
  const auto authority =
      options.authority ? options.authority : load_authority(intercept, options.config_file, now);
  if (const std::int64_t days = (authority->expires() - now) / (24 * 3600); days < 30)
    say(config::LogLevel::warn, "the certificate of intercept.ca expires in " + std::to_string(days) +
                                    " days: reprise ca renew makes a new one");
  try {
    if (intercept.bundle) write_trust(*intercept.bundle, *authority);
  } catch (const std::runtime_error& error) {
    throw InterceptError(std::string("intercept.bundle: ") + error.what());
  }
  leaves = std::make_unique<Leaves>(authority, intercept.hosts, settings.limits.upstreams);
}

void Proxy::Parts::bind() {
  std::vector<InheritedSocket> inherited = options.inherited;
  const auto add = [&](std::string_view mode, const config::Endpoint& where) {
    bound.push_back(take_or_bind(binding, mode, where, inherited));
    endpoints.push_back(bound.back().local_endpoint());
  };
  for (const config::Listener& listener : settings.listeners) add(word(listener.mode), listener.bind);
  add("admin", settings.admin.bind);
  for (const InheritedSocket& left : inherited) {
    say(config::LogLevel::warn, "the service manager has passed a socket that listens at " +
                                    endpoint_text(left.bound) + ", which is no listener's: closed");
    ::close(left.descriptor);
  }
}

std::size_t Proxy::Parts::lowered(std::string_view key, std::size_t wanted, std::size_t allowed) {
  if (allowed >= wanted) return wanted;
  say(config::LogLevel::warn, std::string(key) + " is lowered from " + std::to_string(wanted) + " to " +
                                  std::to_string(allowed) + ": the limit of open files allows no more");
  return allowed;
}

void Proxy::Parts::open_doors(std::size_t index) {
  for (std::size_t i = 0; i < doorways.size(); ++i) {
    doorways[i].acceptors.push_back(duplicate(workers[index]->io, bound[i]));
  }
}

std::string Proxy::Parts::status() {
  observe::StatusFacts facts;
  facts.version = options.version;
  facts.config_file = options.config_file;
  facts.config_hash = options.config_hash;
  facts.started_unix = started_unix;
  facts.now_unix = Clock::wall_nanoseconds() / 1'000'000'000;
  facts.ready = ready;
  facts.draining = stopping;
  for (std::size_t i = 0; i < settings.listeners.size(); ++i) {
    facts.listeners.push_back(describe(word(settings.listeners[i].mode), endpoints[i]));
  }
  facts.listeners.push_back(describe("admin", endpoints.back()));
  return observe::status_json(facts, settings, metrics.totals());
}

std::string Proxy::Parts::metrics_text() {
  set_gauges(metrics, budgets, host_guards);
  metrics.set_log_dropped(log.dropped());
  return metrics.text();
}

void Proxy::Parts::drain(std::size_t index) {
  Worker& worker = *workers[index];
  ErrorCode ignored;
  for (Doorway& doorway : doorways) doorway.acceptors[index].close(ignored);
  net::drain(worker);
}

Task<void> Proxy::Parts::wait_for_sessions(Instant limit) {
  Timer pause(workers.front()->io);
  while (shared->client_connections.load() > 0 && Tick::now() < limit) {
    pause.expires_after(std::chrono::milliseconds(10));
    co_await pause.async_wait(as_result);
  }
}

Task<void> Proxy::Parts::shut_down() {
  say(config::LogLevel::info, "shutting down");
  options.notify.tell("STOPPING=1");
  ready = false;
  Timer linger(workers.front()->io, settings.shutdown.linger);
  co_await linger.async_wait(as_result);
  for (std::size_t i = 0; i < workers.size(); ++i) {
    asio::post(workers[i]->io, [this, i] { drain(i); });
  }
  co_await wait_for_sessions(Tick::now() + settings.shutdown.grace);
  for (const auto& worker : workers) {
    asio::post(worker->io, [&worker = *worker] { abort(worker); });
  }
  co_await wait_for_sessions(Tick::now() + std::chrono::seconds(1));
  say(config::LogLevel::info, "stopped");
  for (const auto& worker : workers) worker->io.stop();
}

void Proxy::Parts::stop() {
  if (stopping.exchange(true)) return;
  asio::post(workers.front()->io, [this] { asio::co_spawn(workers.front()->io, shut_down(), or_abort); });
}

Proxy::Proxy(config::Settings settings, ProxyOptions options)
    : parts_(std::make_unique<Parts>(std::move(settings), std::move(options))) {}

Proxy::~Proxy() = default;

std::vector<tcp::endpoint> Proxy::endpoints() const { return parts_->endpoints; }

void Proxy::stop() { parts_->stop(); }

void Proxy::run() {
  Parts& parts = *parts_;
  Worker& first = *parts.workers.front();
  std::vector<asio::executor_work_guard<asio::io_context::executor_type>> guards;
  for (const auto& worker : parts.workers) guards.push_back(asio::make_work_guard(worker->io));
  if (parts.options.handle_signals) {
    // A second signal does not wait for anybody.
    const auto stop_now = [&parts] {
      for (const auto& worker : parts.workers) worker->io.stop();
    };
    const auto tell = [&parts](std::string_view text) { parts.say(config::LogLevel::warn, text); };
    parts.signals =
        std::make_unique<Signals>(first.io, Signals::Responses{[&parts] { parts.stop(); }, stop_now, tell});
  }
  for (Doorway& doorway : parts.doorways) {
    for (std::size_t i = 0; i < parts.workers.size(); ++i) {
      Worker& worker = *parts.workers[i];
      asio::co_spawn(worker.io, accept_clients(worker, doorway.acceptors[i], doorway.role), or_abort);
    }
  }
  const std::size_t wanted = parts.settings.limits.admin_connections;
  const std::size_t most = parts.lowered("limits.admin_connections", wanted, admin_allowed(wanted));
  asio::co_spawn(first.io, accept_admin(first, *parts.admin, parts.helper, parts.pages, most), or_abort);
  for (std::size_t i = 0; i < parts.endpoints.size(); ++i) {
    const bool is_admin = i == parts.settings.listeners.size();
    const std::string_view mode = is_admin ? "admin" : word(parts.settings.listeners[i].mode);
    parts.say(config::LogLevel::info, "listening " + describe(mode, parts.endpoints[i]));
  }
  parts.ready = true;
  parts.say(config::LogLevel::info, "ready");
  parts.options.notify.tell("READY=1");
  if (parts.options.watchdog) {
    std::vector<asio::io_context*> loops;
    for (const auto& worker : parts.workers) loops.push_back(&worker->io);
    asio::co_spawn(first.io, watch_over(loops, parts.options.notify, *parts.options.watchdog), or_abort);
  }
  std::vector<std::jthread> threads;
  for (std::size_t i = 1; i < parts.workers.size(); ++i) {
    threads.emplace_back([&parts, i] { parts.options.turn(parts.workers[i]->io); });
  }
  parts.options.turn(first.io);
}

}  // namespace reprise::net
