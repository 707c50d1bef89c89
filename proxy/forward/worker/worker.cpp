#include "proxy/forward/worker/worker.hpp"

#include "proxy/forward/request/request.hpp"
#include "proxy/http/retry_hints/date.hpp"
#include "proxy/net/tls/tls_client.hpp"

namespace reprise::forward {
namespace {

constexpr std::size_t most_idle_requests = 256;

}  // namespace

Worker::Worker(Shared& all, std::shared_ptr<const net::Snapshot> first, std::uint64_t seed,
               std::size_t thread)
    : shared(all),
      snapshot(std::move(first)),
      dice(seed),
      pool(tick, snapshot->settings.pool, snapshot->settings.limits.upstreams, all.budgets, all.host_guards,
           all.metrics),
      histories(all.histories == nullptr ? nullptr : &all.histories->book(thread)),
      spans(all.spans == nullptr ? nullptr : &all.spans->of(thread)) {
  apply(snapshot);
}

void Worker::apply(std::shared_ptr<const net::Snapshot> next) {
  snapshot = std::move(next);
  sessions.each([this](ClientSession& session) { session.judge(*snapshot->filter); });
  pool.limit(snapshot->settings.pool);
  if (const auto& parent = snapshot->settings.parent) {
    pool.go_through(parent->host, parent->port, {snapshot->tls->parent(), parent->host}, parent->except);
  } else {
    pool.go_directly();
  }
}

bool Worker::make_room() {
  return departed.make_room(net::Tick::now()) || idle_clients.make_room(net::Tick::now());
}

net::Dialer Worker::dialer(const net::Snapshot& of_request) {
  return {io.get_executor(), tick,         shared.resolver,  pool,      shared.metrics, shared.log,
          shared.pseudonym,  shared.links, shared.own_dials, of_request};
}

// Destroys the suspended coroutines of sessions first, because they use the pool and the tick.
Worker::~Worker() { io.destroy_handlers(); }

std::unique_ptr<Request> Worker::lend_request() {
  if (idle_requests_.empty()) return std::make_unique<Request>();
  auto request = std::move(idle_requests_.back());
  idle_requests_.pop_back();
  return request;
}

void Worker::give_back(std::unique_ptr<Request> request) {
  if (idle_requests_.size() < most_idle_requests) idle_requests_.push_back(std::move(request));
  spare_blocks_.look();
}

std::string_view Worker::date() {
  const std::int64_t second = net::Clock::wall_nanoseconds() / 1'000'000'000;
  if (second != date_second_) {
    date_second_ = second;
    date_ = http::format_date(second);
  }
  return date_;
}

policy::ObservedLatency& Worker::latency(std::size_t route) {
  if (latencies_.size() <= route) latencies_.resize(route + 1);
  if (latencies_[route] == nullptr) latencies_[route] = std::make_unique<policy::ObservedLatency>();
  return *latencies_[route];
}

void leave(Worker& worker) {
  worker.leaving = true;
  worker.sessions.each([](ClientSession& session) { session.announce_end(); });
}

void drain(Worker& worker) {
  worker.draining = true;
  worker.pool.close();
  worker.sessions.each([](ClientSession& session) { session.drain(); });
}

void abort(Worker& worker) {
  worker.sessions.each([](ClientSession& session) { session.abort(); });
}

}  // namespace reprise::forward
