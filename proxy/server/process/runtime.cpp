#include "proxy/server/process/runtime.hpp"

#include <unistd.h>

#include <array>
#include <climits>

#include "proxy/http/message/rejection.hpp"
#include "proxy/server/process/labels.hpp"
#include "proxy/server/process/pseudonym.hpp"

namespace reprise::server {

Runtime::Runtime(const config::Settings& settings, ProxyOptions given)
    : options(std::move(given)),
      metrics(route_names(*settings.routes), http::all_words(), options.version, labels_of(settings)),
      log(settings.log, route_names(*settings.routes), options.log_descriptor, options.log_reader),
      budgets(settings.limits.upstreams),
      host_guards(settings.limits.upstreams),
      replay(settings.limits, options.files, metrics, log),
      stream_memory(settings.limits.stream_memory_bytes,
                    [this] { metrics.count_limit(telemetry::LimitHit::stream_memory); }),
      spans(settings.threads) {
  metrics.set_config_hash(options.config_hash, net::Clock::wall_nanoseconds() / 1'000'000'000);
  for (const std::string& warning : options.warnings) log_message(config::LogLevel::warn, warning);
  for (const std::string& note : options.notes) log_message(config::LogLevel::info, note);
  net::Resolver::Limits limits;
  limits.names = settings.limits.upstreams;
  if (!options.query) names = std::make_unique<net::NameService>();
  resolver = std::make_unique<net::Resolver>(names ? names->query() : options.query, limits, metrics);
  // NOLINTNEXTLINE(modernize-make-unique): clang 14 cannot initialise an aggregate through it.
  shared.reset(new forward::Shared{metrics, log, budgets, host_guards, *resolver, replay, stream_memory,
                                   make_pseudonym()});
  // Request ids begin with the random part of the pseudonym (this proxy's name in Via).
  if (settings.limits.history_bytes > 0) {
    histories.emplace(shared->pseudonym.substr(shared->pseudonym.find('-') + 1), settings.threads,
                      settings.limits.history_bytes);
    shared->histories = &*histories;
  }
  shared->spans = &spans;
  exporter = std::make_unique<SpanExporter>(
      spans, *resolver, metrics, log, resource(),
      [this](std::uint64_t number) { return histories ? histories->id_of(number) : std::string(); },
      random_number());
  shared->observer = options.observer;
  if (options.sniff_limit) shared->sniff_limit = *options.sniff_limit;
}

Runtime::~Runtime() {
  phase.ended = true;
  end_page_thread();
  replay.stop();
  exporter->finish(true);
}

void Runtime::end_page_thread() {
  page_thread.stop();
  page_thread.join();
}

void Runtime::make_workers(unsigned threads, const std::shared_ptr<const net::Snapshot>& snapshot) {
  for (unsigned i = 0; i < threads; ++i)
    workers.push_back(std::make_unique<forward::Worker>(*shared, snapshot, random_number(), i));
}

telemetry::TraceResource Runtime::resource() const {
  std::array<char, HOST_NAME_MAX + 1> host{};
  if (::gethostname(host.data(), HOST_NAME_MAX) != 0) host.front() = '\0';
  return {options.version, shared->pseudonym, host.data(), ::getpid(), options.resource};
}

}  // namespace reprise::server
