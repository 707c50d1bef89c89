#include "proxy/net/loop.hpp"

#include "proxy/http/date.hpp"
#include "proxy/net/request.hpp"

namespace reprise::net {
namespace {

constexpr std::size_t most_idle_requests = 256;

}  // namespace

Loop::Loop(Shared& all, std::uint64_t seed)
    : shared(all),
      dice(seed),
      pool(tick, all.settings.pool, all.settings.limits.upstreams, all.budgets, all.gates, all.metrics),
      head_limits{all.settings.limits.header_bytes, all.settings.limits.header_fields,
                  all.settings.limits.target_bytes} {
  if (const auto& parent = all.settings.parent) pool.go_through(parent->host, parent->port);
}

// Sessions are frames of suspended coroutines: they go first, while the pool and the tick that they use are
// there.
Loop::~Loop() { io.destroy_handlers(); }

std::unique_ptr<Stream> Loop::open_stream() {
  if (shared.make_link) return std::make_unique<Stream>(tick, shared.make_link(io.get_executor()));
  return std::make_unique<Stream>(tick, tcp::socket(io));
}

std::unique_ptr<Request> Loop::lend_request() {
  if (idle_requests_.empty()) return std::make_unique<Request>();
  auto request = std::move(idle_requests_.back());
  idle_requests_.pop_back();
  return request;
}

void Loop::give_back(std::unique_ptr<Request> request) {
  if (idle_requests_.size() < most_idle_requests) idle_requests_.push_back(std::move(request));
}

std::string_view Loop::date() {
  const std::int64_t second = wall_nanoseconds() / 1'000'000'000;
  if (second != date_second_) {
    date_second_ = second;
    date_ = http::format_date(second);
  }
  return date_;
}

policy::ObservedLatency& Loop::latency(std::size_t route) {
  if (latencies_.size() <= route) latencies_.resize(route + 1);
  if (latencies_[route] == nullptr) latencies_[route] = std::make_unique<policy::ObservedLatency>();
  return *latencies_[route];
}

}  // namespace reprise::net
