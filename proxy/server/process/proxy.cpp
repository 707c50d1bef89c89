#include "proxy/server/process/proxy.hpp"

#include <unistd.h>

#include <array>
#include <boost/asio/co_spawn.hpp>
#include <climits>
#include <thread>

#include "proxy/forward/worker/certificate_ends.hpp"
#include "proxy/http/message/rejection.hpp"
#include "proxy/net/upstream/address.hpp"
#include "proxy/server/process/labels.hpp"
#include "proxy/server/process/parts.hpp"
#include "proxy/server/process/pseudonym.hpp"
#include "proxy/server/process/watchdog.hpp"

namespace reprise::server {

Proxy::Parts::Parts(config::Settings given, ProxyOptions given_options)
    : options(std::move(given_options)),
      metrics(route_names(*given.routes), http::all_words(), options.version, labels_of(given)),
      log(given.log, route_names(*given.routes), options.log_descriptor, options.log_reader),
      budgets(given.limits.upstreams),
      host_guards(given.limits.upstreams),
      replay(given.limits, options.files, metrics, log),
      builder(metrics, log, options.authority, options.config_file),
      spans(given.threads) {
  metrics.set_config_hash(options.config_hash, net::Clock::wall_nanoseconds() / 1'000'000'000);
  for (const std::string& warning : options.warnings) say(config::LogLevel::warn, warning);
  for (const std::string& note : options.notes) say(config::LogLevel::info, note);
  std::vector<net::InheritedSocket> inherited = options.inherited;
  auto listeners = ListenerSet::bind(given, binding, nullptr, inherited);
  close_unwanted(inherited);
  net::Resolver::Limits limits;
  limits.names = given.limits.upstreams;
  if (!options.query) names = std::make_unique<net::NameService>();
  resolver = std::make_unique<net::Resolver>(names ? names->query() : options.query, limits, metrics);
  // NOLINTNEXTLINE(modernize-make-unique): clang 14 cannot initialise an aggregate through it.
  shared.reset(new forward::Shared{metrics, log, budgets, host_guards, *resolver, replay, make_pseudonym()});
  // Ids begin with the random part of our pseudonym.
  if (given.limits.story_bytes > 0) {
    stories.emplace(shared->pseudonym.substr(shared->pseudonym.find('-') + 1), given.threads,
                    given.limits.story_bytes);
    shared->stories = &*stories;
  }
  shared->spans = &spans;
  exporter = std::make_unique<SpanExporter>(
      spans, *resolver, metrics, log, resource(),
      [this](std::uint64_t number) { return stories ? stories->id_of(number) : std::string(); },
      random_number());
  shared->witness = options.witness;
  if (options.first_words_limit) shared->first_words_limit = *options.first_words_limit;
  for (const config::Listener& listener : given.listeners) {
    if (listener.mode == config::ListenerMode::transparent) shared->own_dials.watch();
  }
  const unsigned threads = given.threads;
  const std::optional<std::string> control_path = given.admin.control;
  const std::size_t admins = given.limits.admin_connections;
  if (const std::size_t allowed = net::admin_allowed(admins); allowed < admins)
    say(config::LogLevel::warn, "limits.admin_connections is lowered from " + std::to_string(admins) +
                                    " to " + std::to_string(allowed) +
                                    ": the limit of open files allows no more");
  current.snapshot = builder.build(std::move(given), listeners.endpoints(), nullptr);
  for (unsigned i = 0; i < threads; ++i)
    workers.push_back(std::make_unique<forward::Worker>(*shared, current.snapshot, random_number(), i));
  listeners.open_on(workers);
  current.listeners = std::make_shared<const ListenerSet>(std::move(listeners));
  current.hash = options.config_hash;
  current.files = options.watched_files;
  pages = {[this] { return ready && !leaving; },
           [this] { return status(); },
           [this] { return newest_stories(); },
           [this](std::string_view id, StoryForm form) { return story(id, form); },
           [this](telemetry::Exposition form) { return metrics_text(form); },
           [this](bool whole) { return edition(whole); },
           [this] { return effective_configuration(); }};
  if (control_path) control = std::make_unique<ControlSocket>(workers.front()->io, *control_path);
  if (options.reload)
    reloader = std::make_unique<Reloader>([this] { return reload(); }, [this] { return watched_files(); },
                                          options.watch_times);
}

telemetry::TraceResource Proxy::Parts::resource() const {
  std::array<char, HOST_NAME_MAX + 1> host{};
  if (::gethostname(host.data(), HOST_NAME_MAX) != 0) host.front() = '\0';
  return {options.version, shared->pseudonym, host.data(), ::getpid(), options.resource};
}

std::string Proxy::Parts::service_status() const {
  const Current in_force = now();
  const config::Settings& settings = in_force.snapshot->settings;
  const ReloadReport& last = in_force.last;
  net::ServiceState state{settings.routes->size() - 1, {}, leaving, last.unix_time, {}};
  if (last.unix_time != 0 && !last.succeeded)
    state.why_not = last.words.empty() ? "no reason is known" : last.words.front();
  const auto& bound = in_force.listeners->all();
  for (std::size_t i = 0; i < bound.size(); ++i) {
    const std::string_view mode = bound[i]->is_admin ? "admin" : forward::word(settings.listeners[i].mode);
    state.listeners.push_back(forward::describe(mode, bound[i]->endpoint));
  }
  return "STATUS=" + net::status_line(state);
}

// No job of another thread reads a part that is gone, or comes back to a loop that is.
Proxy::Parts::~Parts() {
  ended = true;
  page_thread.stop();
  page_thread.join();
  if (reloader) reloader->stop();
  replay.stop();
  builder.stop();
  exporter->finish(true);
}

void Proxy::Parts::close_unwanted(const std::vector<net::InheritedSocket>& inherited) {
  for (const net::InheritedSocket& left : inherited) {
    say(config::LogLevel::warn, "the service manager has passed a socket that listens at " +
                                    net::endpoint_text(left.bound) + ", which is no listener's: closed");
    ::close(left.descriptor);
  }
}

void Proxy::Parts::close_listeners(std::size_t index) {
  for (const auto& bound : now().listeners->all()) {
    if (!bound->on_threads.empty()) forward::close_listener(*workers[index], bound->on_threads[index]);
  }
  forward::drain(*workers[index]);
}

Task<void> Proxy::Parts::wait_for_sessions(Instant limit) {
  net::Timer pause(workers.front()->io);
  while ((listening > 0 || shared->client_connections.load() > 0) && net::Tick::now() < limit) {
    pause.expires_after(std::chrono::milliseconds(10));
    co_await pause.async_wait(as_result);
  }
}

// Everything that this stirs is done within some turns of the loop, or is not worth another: the end of a
// process ends its connections, too.
Task<void> Proxy::Parts::close_admin() {
  constexpr int turns = 16;
  ErrorCode ignored;
  const std::shared_ptr<const ListenerSet> listeners = now().listeners;
  if (!listeners->has_admin()) co_return;
  listeners->admin().admin->close(ignored);
  for (int i = 0; i < turns; ++i) co_await asio::post(workers.front()->io, asio::use_awaitable);
}

Task<void> Proxy::Parts::shut_down() {
  say(config::LogLevel::info, "shutting down");
  options.notify.tell("STOPPING=1\nSTATUS=shutting down: " +
                      std::to_string(shared->client_connections.load()) + " open client connections");
  ready = false;
  end_connections_politely();
  const config::Shutdown times = now().snapshot->settings.shutdown;
  net::Timer linger(workers.front()->io, times.linger);
  co_await linger.async_wait(as_result);
  listening = workers.size();
  for (std::size_t i = 0; i < workers.size(); ++i) {
    asio::post(workers[i]->io, [this, i] {
      close_listeners(i);
      --listening;
    });
  }
  co_await wait_for_sessions(net::Tick::now() + times.grace);
  for (const auto& worker : workers) {
    asio::post(worker->io, [&worker = *worker] { forward::abort(worker); });
  }
  co_await wait_for_sessions(net::Tick::now() + std::chrono::seconds(1));
  co_await close_admin();
  say(config::LogLevel::info, "stopped");
  stop_now();
}

void Proxy::Parts::stop() {
  if (stopping.exchange(true)) return;
  asio::post(workers.front()->io, [this] { asio::co_spawn(workers.front()->io, shut_down(), or_abort); });
}

void Proxy::Parts::stop_now() {
  ended = true;
  for (const auto& worker : workers) worker->io.stop();
}

void Proxy::Parts::leave() {
  if (leaving.exchange(true)) return;
  say(config::LogLevel::info, "draining: not ready any more, and each response ends its connection");
  options.notify.tell(service_status());
  end_connections_politely();
}

// Clients that ask go elsewhere while there is time: one whose connection is closed between two requests may
// just have sent one.
void Proxy::Parts::end_connections_politely() {
  for (const auto& worker : workers) {
    asio::post(worker->io, [&worker = *worker] { worker.leaving = true; });
  }
}

void Proxy::Parts::come_back() {
  if (!leaving.exchange(false)) return;
  say(config::LogLevel::info, "draining is undone: ready again");
  options.notify.tell(service_status());
  for (const auto& worker : workers) {
    asio::post(worker->io, [this, &worker = *worker] {
      if (!stopping) worker.leaving = false;
    });
  }
}

void Proxy::Parts::begin() {
  forward::Worker& first = *workers.front();
  if (options.handle_signals) {
    signals = std::make_unique<Signals>(first.io, Signals::Handlers{[this] { stop(); },
                                                                    [this] {
                                                                      hurried = true;
                                                                      stop_now();
                                                                    },
                                                                    [this] { ask_to_reload({}); },
                                                                    [this](const char* name) {
                                                                      say(config::LogLevel::info,
                                                                          std::string("ignored ") + name);
                                                                    }});
  }
  const auto roles = roles_of(current.snapshot->settings, *current.listeners);
  for (std::size_t i = 0; i < workers.size(); ++i)
    put_in_force(i, current.snapshot, *current.listeners, roles, nullptr);
  if (control) control->serve(commands());
  const config::Settings& settings = current.snapshot->settings;
  exporter->send_to(settings.trace.otlp);
  const auto& bound = current.listeners->all();
  for (std::size_t i = 0; i < bound.size(); ++i) {
    const std::string_view mode = bound[i]->is_admin ? "admin" : forward::word(settings.listeners[i].mode);
    say(config::LogLevel::info, "listening " + forward::describe(mode, bound[i]->endpoint));
  }
  ready = true;
  asio::co_spawn(first.io, forward::warn_of_certificate_ends(first), or_abort);
  say(config::LogLevel::info, "ready");
  options.notify.tell("READY=1\n" + service_status());
  if (options.watchdog) {
    std::vector<asio::io_context*> loops;
    for (const auto& worker : workers) loops.push_back(&worker->io);
    asio::co_spawn(first.io, watch_over(loops, options.notify, *options.watchdog), or_abort);
  }
  if (reloader) reloader->start();
}

Proxy::Proxy(config::Settings settings, ProxyOptions options)
    : parts_(std::make_unique<Parts>(std::move(settings), std::move(options))) {}

Proxy::~Proxy() = default;

std::vector<tcp::endpoint> Proxy::endpoints() const { return parts_->now().listeners->endpoints(); }

void Proxy::stop() { parts_->stop(); }

void Proxy::reload(std::function<void(const ReloadReport&)> told) { parts_->ask_to_reload(std::move(told)); }

void Proxy::run() {
  Parts& parts = *parts_;
  std::vector<asio::executor_work_guard<asio::io_context::executor_type>> guards;
  for (const auto& worker : parts.workers) guards.push_back(asio::make_work_guard(worker->io));
  parts.begin();
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 1; i < parts.workers.size(); ++i) {
      threads.emplace_back([&parts, i] { parts.options.turn(parts.workers[i]->io); });
    }
    parts.options.turn(parts.workers.front()->io);
    parts.ended = true;
    if (parts.reloader) parts.reloader->stop();
  }
  parts.exporter->finish(parts.hurried);
}

}  // namespace reprise::server
