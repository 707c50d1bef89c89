#include "proxy/server/process/proxy.hpp"

#include <boost/asio/co_spawn.hpp>
#include <thread>

#include "proxy/forward/worker/certificate_ends.hpp"
#include "proxy/server/process/admin_views.hpp"
#include "proxy/server/process/config_control.hpp"
#include "proxy/server/process/control_commands.hpp"
#include "proxy/server/process/lifecycle.hpp"
#include "proxy/server/process/runtime.hpp"
#include "proxy/server/process/signals.hpp"
#include "proxy/server/process/watchdog.hpp"

namespace reprise::server {

/// The parts of a running proxy. Each part uses only those that are declared before it.
struct Proxy::Parts {
  Parts(config::Settings settings, ProxyOptions options)
      : runtime(settings, std::move(options)), config(runtime, std::move(settings)) {
    const auto path = config.now().snapshot->settings.admin.control;
    if (path) control = std::make_unique<ControlSocket>(runtime.workers.front()->io, *path);
  }
  // Stops the page thread, which uses the views, and the reloader's thread, which uses everything.
  ~Parts() {
    runtime.phase.ended = true;
    runtime.end_page_thread();
    config.stop();
  }
  Parts(const Parts&) = delete;
  Parts& operator=(const Parts&) = delete;

  void begin();
  void install_signal_handlers();

  Runtime runtime;
  ConfigControl config;
  Lifecycle lifecycle{runtime, config};
  AdminViews views{runtime, config};
  ControlCommands commands{runtime, config, lifecycle, views};
  std::unique_ptr<Signals> signals;
  std::unique_ptr<ControlSocket> control;  ///< null if there is no control socket
};

void Proxy::Parts::install_signal_handlers() {
  Signals::Handlers handlers{[this] { lifecycle.stop(); },
                             [this] {
                               runtime.phase.forced = true;
                               lifecycle.stop_now();
                             },
                             [this] { config.ask_to_reload({}); },
                             [this](const char* name) {
                               runtime.log_message(config::LogLevel::info, std::string("ignored ") + name);
                             }};
  signals = std::make_unique<Signals>(runtime.workers.front()->io, std::move(handlers));
}

void Proxy::Parts::begin() {
  forward::Worker& first = *runtime.workers.front();
  if (runtime.options.handle_signals) install_signal_handlers();
  config.begin(views.pages());
  if (control) control->serve(commands.commands());
  const CurrentConfig current = config.now();
  runtime.exporter->send_to(current.snapshot->settings.trace.otlp);
  for (const std::string& listener : described_listeners(current))
    runtime.log_message(config::LogLevel::info, "listening " + listener);
  runtime.phase.ready = true;
  asio::co_spawn(first.io, forward::warn_of_certificate_ends(first), or_abort);
  runtime.log_message(config::LogLevel::info, "ready");
  runtime.options.notify.send("READY=1\n" + service_status(current, runtime.phase.leaving));
  if (runtime.options.watchdog) {
    std::vector<asio::io_context*> loops;
    for (const auto& worker : runtime.workers) loops.push_back(&worker->io);
    asio::co_spawn(first.io, watch_over(loops, runtime.options.notify, *runtime.options.watchdog), or_abort);
  }
  config.watch();
}

Proxy::Proxy(config::Settings settings, ProxyOptions options)
    : parts_(std::make_unique<Parts>(std::move(settings), std::move(options))) {}

Proxy::~Proxy() = default;

std::vector<tcp::endpoint> Proxy::endpoints() const { return parts_->config.now().listeners->endpoints(); }

void Proxy::stop() { parts_->lifecycle.stop(); }

void Proxy::reload(std::function<void(const ReloadReport&)> done) {
  parts_->config.ask_to_reload(std::move(done));
}

void Proxy::run() {
  Runtime& runtime = parts_->runtime;
  std::vector<asio::executor_work_guard<asio::io_context::executor_type>> guards;
  for (const auto& worker : runtime.workers) guards.push_back(asio::make_work_guard(worker->io));
  parts_->begin();
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 1; i < runtime.workers.size(); ++i) {
      threads.emplace_back([&runtime, i] { runtime.options.turn(runtime.workers[i]->io); });
    }
    runtime.options.turn(runtime.workers.front()->io);
    runtime.phase.ended = true;
    parts_->config.stop();
  }
  runtime.exporter->finish(runtime.phase.forced);
}

}  // namespace reprise::server
