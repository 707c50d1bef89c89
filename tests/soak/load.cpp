#include "tests/soak/load.hpp"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include "tests/soak/client.hpp"
#include "tests/soak/content.hpp"

namespace reprise::soak {
namespace {

constexpr auto beat = std::chrono::milliseconds(5);
// Longer than any request can take with the limits of tests/soak.sh.
constexpr auto patience = std::chrono::seconds(240);
// While more than this number of requests wait for a client, no further requests become due.
constexpr std::uint64_t most_waiting = 200;

}  // namespace

Load::Load(asio::io_context& io, Ledger& ledger, const Upstream& upstream, const LoadSettings& settings)
    : io_(io), ledger_(ledger), upstream_(upstream), settings_(settings) {}

void Load::start() {
  begin_ = Clock::now();
  for (std::size_t i = 0; i < settings_.clients; ++i) {
    ++running_;
    asio::co_spawn(io_, work(seats_.emplace_back(io_)), asio::detached);
  }
  asio::co_spawn(io_, pace(), asio::detached);
}

void Load::give_up_on_the_stuck() {
  for (Seat& seat : seats_) {
    if (seat.line == nullptr || seat.busy_since > Clock::now() - patience) continue;
    ++given_up_;
    ledger_.unjust(plan_of(ledger_.mix(), seat.number), "no response in time");
    seat.busy_since = Clock::time_point::max();
    seat.line->close();
  }
}

// Makes the next request due. A pipeline has one entry in `waiting_`: the number of its first request.
void Load::issue() {
  waiting_.push_back(ledger_.begin());
  ++started_;
  const bool leads = !ledger_.mix().lost_posts && waiting_.back() % pipeline_every == 0;
  for (std::uint64_t i = 1; leads && i < pipeline_depth; ++i, ++started_) ledger_.begin();
  if (idle_.empty()) return;
  idle_.back()->cancel();
  idle_.pop_back();
}

Task<void> Load::pace() {
  asio::steady_timer timer(io_);
  Clock::duration slipped{};
  auto last = begin_;
  while (last - begin_ < settings_.length && (settings_.most == 0 || started_ < settings_.most)) {
    timer.expires_after(beat);
    co_await timer.async_wait(as_result);
    const auto now = Clock::now();
    worst_stall_ = std::max(worst_stall_, now - last - beat);
    if (waiting_.size() > most_waiting) slipped += now - last;
    last = now;
    const auto spent = std::chrono::duration_cast<std::chrono::milliseconds>(now - begin_ - slipped).count();
    std::uint64_t due = static_cast<std::uint64_t>(spent) * settings_.per_second / 1000;
    if (settings_.most > 0) due = std::min(due, settings_.most);
    while (started_ < due) issue();
  }
  paced_ = true;
  for (Seat& seat : seats_) seat.nudge.cancel();
}

// Waits until a request is due. Returns false if no further request will be due.
Task<bool> Load::seat_down(Seat& seat) {
  while (waiting_.empty()) {
    if (paced_) co_return false;
    seat.busy_since = Clock::time_point::max();
    idle_.push_back(&seat.nudge);
    co_await seat.nudge.async_wait(as_result);
  }
  co_return true;
}

Task<void> Load::work(Seat& seat) {
  Errand errand{ledger_, settings_.proxy, [this](Listener listener) { return upstream_.port(listener); }};
  for (;;) {
    const bool there_is_one = co_await seat_down(seat);
    if (!there_is_one) break;
    const std::uint64_t number = waiting_.front();
    waiting_.pop_front();
    seat.busy_since = Clock::now();
    seat.number = number;
    const Plan plan = plan_of(ledger_.mix(), number);
    std::vector<std::uint64_t> numbers;
    if (plan.behaviour == Behaviour::pipelined) numbers = {number, number + 1, number + 2};
    Done done;
    do {
      if (seat.line == nullptr) {
        tcp::socket socket(io_);
        const auto [error] = co_await socket.async_connect(settings_.proxy, as_result);
        if (error) ledger_.unjust(plan, "reprise took no connection: " + error.message());
        seat.line = std::make_unique<Wire>(std::move(socket));
      }
      const auto sent = Clock::now();
      if (plan.behaviour == Behaviour::pipelined) {
        std::vector<std::uint64_t> unheard;
        done = co_await carry_out_pipeline(errand, *seat.line, numbers, unheard);
        numbers = std::move(unheard);
      } else {
        done = co_await carry_out(errand, *seat.line, plan);
      }
      if (done.untouched && plan.behaviour == Behaviour::plain && plan.size < 8192) {
        samples_.push_back(
            {sent - begin_, std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - sent)});
      }
      if (!done.again) seat.line = nullptr;
    } while (!numbers.empty());
  }
  seat.line = nullptr;
  seat.busy_since = Clock::time_point::max();
  --running_;
}

}  // namespace reprise::soak
