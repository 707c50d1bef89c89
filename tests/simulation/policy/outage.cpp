#include "tests/simulation/policy/outage.hpp"

#include <algorithm>
#include <cassert>
#include <deque>
#include <memory>
#include <queue>
#include <vector>

#include "proxy/policy/decision/exchange.hpp"
#include "tests/simulation/policy/purpose.hpp"

namespace reprise::simulation {
namespace {

using policy::Actions;
using policy::Duration;
using policy::Instant;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr unsigned rate = 200;  // requests a second
constexpr Duration between = Duration(seconds(1)) / rate;
constexpr Duration attempt_time = milliseconds(2);
constexpr Instant epoch{std::chrono::hours(1000)};
constexpr Instant gone = epoch + seconds(30);
constexpr Instant back = gone + seconds(60);
constexpr Instant end = back + seconds(60);

class Outage {
 public:
  Outage(const policy::RoutePolicy& route, Away away) : route_(route), away_(away) {
    if (route.budget) budget_.emplace(*route.budget);
    if (route.circuit) circuit_.emplace(*route.circuit);
  }

  OutageFigures play() {
    for (Instant at = epoch; at < end; at += between) {
      requests_.emplace_back(route_, share(), at);
      events_.push({at, Event::arrives, requests_.size() - 1});
    }
    while (!events_.empty()) {
      const Coming next = events_.top();
      events_.pop();
      happen(next);
    }
    return {percent(epoch, seconds(10)), percent(back, seconds(1)), recovery(), requests_.size()};
  }

 private:
  enum class Event : std::uint8_t { arrives, attempt_ends, wait_ends };
  struct Coming {
    Instant at;
    Event event;
    std::size_t request;
    bool operator<(const Coming& other) const {
      return at != other.at ? at > other.at : request > other.request;
    }
  };
  struct One {
    One(const policy::RoutePolicy& route, policy::HostShare share, Instant at)
        : arrived(at), exchange(route, {policy::Idempotency::yes, true}, share, at) {}
    Instant arrived;
    policy::Exchange exchange;
    Instant attempt_began{};
    unsigned attempts = 0;
    bool succeeded = false;
  };

  policy::HostShare share() {
    return {budget_ ? &*budget_ : nullptr, circuit_ ? &*circuit_ : nullptr, nullptr};
  }

  void happen(const Coming& coming) {
    One& one = requests_[coming.request];
    switch (coming.event) {
      case Event::arrives: return obey(one.exchange.begin(coming.at, dice_), coming);
      case Event::wait_ends: return obey(one.exchange.waited(coming.at), coming);
      case Event::attempt_ends: return obey(finish(one, coming.at), coming);
    }
  }

  Actions finish(One& one, Instant now) {
    const bool is_away = one.attempt_began >= gone && one.attempt_began < back;
    one.succeeded = !is_away;
    if (is_away && away_ == Away::refuses) {
      const policy::AttemptReport nothing_sent{false, policy::Sent::nothing, true, policy::Idempotency::yes};
      return one.exchange.failed(nothing_sent, {policy::Stage::connect, policy::Cause::refused}, now, dice_);
    }
    const policy::AttemptReport sent{false, policy::Sent::maybe, true, policy::Idempotency::yes};
    return one.exchange.responded(sent, {is_away ? 503 : 200, {}}, now, dice_);
  }

  void obey(const Actions& actions, const Coming& cause) {
    for (const policy::Action& action : actions) {
      std::visit([&](const auto& asked) { obey(asked, cause); }, action);
    }
    // One attempt runs at a time and every wait ends, so each call must return an action that continues or
    // ends the exchange.
    assert(policy::leads_on(requests_[cause.request].exchange, actions));
  }

  void obey(const policy::Start&, const Coming& cause) {
    One& one = requests_[cause.request];
    ++one.attempts;
    one.attempt_began = cause.at;
    if (burdens_at(cause.at)) load_.push_back(cause.at);
    events_.push({cause.at + attempt_time, Event::attempt_ends, cause.request});
  }
  void obey(const policy::Wait& wait, const Coming& cause) {
    events_.push({wait.until, Event::wait_ends, cause.request});
  }
  void obey(const policy::Deliver&, const Coming& cause) { requests_[cause.request].exchange.delivered(); }
  static void obey(const policy::Fail&, const Coming&) {}
  // The following actions cannot occur: no body breaks, no client leaves, and no hedge is sent.
  static void obey(const policy::Resume&, const Coming&) { assert(false); }
  static void obey(const policy::Continue&, const Coming&) { assert(false); }
  static void obey(const policy::Cancel&, const Coming&) { assert(false); }
  static void obey(const policy::Cut&, const Coming&) { assert(false); }
  static void obey(const policy::Leave&, const Coming&) { assert(false); }

  // Returns true if an attempt at this time puts load on the upstream. A refused dial puts no load on the
  // upstream, and its charge to the budget is refunded (decision 0015).
  bool burdens_at(Instant now) const { return away_ != Away::refuses || now < gone || now >= back; }

  // Returns the number of attempts in the busiest interval of length `span` after `since`, in percent of the
  // requests that arrive in such an interval. load_ is sorted, because events come in order of time.
  unsigned percent(Instant since, Duration span) const {
    std::size_t most = 0;
    auto first = std::lower_bound(load_.begin(), load_.end(), since);
    for (auto last = first; last != load_.end(); ++last) {
      while (*last - *first >= span) ++first;
      most = std::max(most, static_cast<std::size_t>(last - first) + 1);
    }
    return static_cast<unsigned>(100 * most / static_cast<std::size_t>(span / between));
  }

  unsigned recovery() const {
    Duration latest{};
    for (const One& one : requests_) {
      const bool at_once = one.succeeded && one.attempts == 1;
      if (one.arrived >= back && !at_once) latest = one.arrived - back + attempt_time;
    }
    return static_cast<unsigned>(latest / milliseconds(1));
  }

  const policy::RoutePolicy& route_;
  const Away away_;
  Chance dice_{7};
  std::optional<policy::Budget> budget_;
  std::optional<policy::Circuit> circuit_;
  std::deque<One> requests_;
  std::priority_queue<Coming> events_;
  std::vector<Instant> load_;
};

}  // namespace

OutageFigures play_outage(const policy::RoutePolicy& route, Away away) { return Outage(route, away).play(); }

}  // namespace reprise::simulation
