#include "tests/simulation/world.hpp"

#include <algorithm>
#include <utility>

namespace reprise::simulation {
namespace {

// Wall-clock time of Instant zero, in nanoseconds. A story begins 3,600,000 s later, at 2026-01-01T00:00:00Z.
constexpr std::int64_t wall_at_zero = (1'767'225'600 - 3'600'000) * std::int64_t{1'000'000'000};

}  // namespace

World::World(Seed seed) : order_(seed, Purpose::order) { net::Clock::take_from(this); }

World::~World() { net::Clock::take_from(nullptr); }

std::int64_t World::wall_nanoseconds() {
  return wall_at_zero + now_.time_since_epoch().count() + wall_offset_;
}

void World::drive(boost::asio::io_context& io) {
  if (driven_.empty()) nudge_ = std::make_unique<net::Timer>(io);
  driven_.push_back(&io);
}

// Makes Asio check all timers, with a timer that is already due (kernel_timer.cpp).
void World::fire_timers() {
  bool fired = false;
  nudge_->expires_at(beginning - std::chrono::hours(1));  // is due earlier than every other timer
  nudge_->async_wait([&fired](const boost::system::error_code&) { fired = true; });
  while (!fired) poll();
}

void World::timer_due_in(Duration left) {
  next_timer_ = left < Instant::max() - now_ ? now_ + left : Instant::max();
}

void World::at(Instant when, std::function<void()> event) {
  events_.push({std::max(when, now_), number_++, std::move(event)});
}

void World::poll() {
  // Work in one context can create work in another, so all contexts are polled until no context has work.
  for (std::size_t quiet = 0, i = 0; quiet < driven_.size(); i = (i + 1) % driven_.size()) {
    driven_[i]->restart();
    quiet = driven_[i]->poll() > 0 && i > 0 ? 0 : quiet + 1;
  }
}

bool World::step(Instant limit) {
  ++steps_;
  if (ready_.empty() && !move_on(limit)) return false;
  if (!ready_.empty()) {
    const std::size_t chosen = ready_.size() == 1 ? 0 : order_.below(ready_.size());
    std::swap(ready_[chosen], ready_.back());
    const std::function<void()> event = std::move(ready_.back());
    ready_.pop_back();
    event();
  }
  poll();
  return true;
}

// Moves the clock to the next event of the story, or to the next timer of the proxy if that is earlier.
// Returns false and leaves the clock unchanged if the next time is after `limit`.
bool World::move_on(Instant limit) {
  Instant next = next_timer_;
  if (!events_.empty()) next = std::min(next, events_.top().when);
  if (next > limit) return false;
  now_ = std::max(now_, next);
  if (next_timer_ <= now_) {
    next_timer_ = Instant::max();
    fire_timers();
  }
  note(static_cast<std::uint64_t>(now_.time_since_epoch().count()));
  while (!events_.empty() && events_.top().when <= now_) {
    // priority_queue has no other way to move its top element out.
    ready_.push_back(std::move(const_cast<Event&>(events_.top()).run));
    events_.pop();
  }
  return true;
}

}  // namespace reprise::simulation
