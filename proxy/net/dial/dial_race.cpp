#include "proxy/net/dial/dial_race.hpp"

#include <boost/asio/co_spawn.hpp>

namespace reprise::net {

using policy::Failed;

DialRace::DialRace(Dialer& dialer, std::vector<tcp::endpoint> endpoints, const ConnectTime& time)
    : dialer_(dialer),
      endpoints_(std::move(endpoints)),
      time_(time),
      order_(endpoints_.size()),
      pause_(dialer.executor),
      cancels_(endpoints_.size()) {}

Task<Dialled> DialRace::run(AttemptCancel& cancel) {
  AttemptCancel::Target target(cancel, *this);
  for (;;) {
    const Instant now = Tick::now();
    if (time_.is_over(now)) order_.dial_no_more();
    const HappyEyeballs::Step step = order_.next(now);
    if (const auto* dial = std::get_if<HappyEyeballs::Dial>(&step)) {
      asio::co_spawn(dialer_.executor, run_one(*this, dial->which), or_abort);
    } else if (const auto* wait = std::get_if<HappyEyeballs::Wait>(&step)) {
      co_await pause_.until(wait->until);
    } else {
      break;
    }
  }
  target.end();
  if (winner_ != nullptr) co_return std::move(winner_);
  co_return Failed{policy::Stage::connect, order_.failure()};
}

Task<void> DialRace::run_one(DialRace& race, std::size_t which) {
  if (const auto& on_dial = race.dialer_.links.race_dials) on_dial(race.endpoints_, which);
  const Instant due = race.time_.end_of_step(Tick::now());
  race.ended(which, co_await dial_one(race.dialer_, race.endpoints_[which], due, race.cancels_[which]));
}

// Handles the end of a dial. If another dial has won already, closes the connection.
void DialRace::ended(std::size_t which, Dialled end) {
  if (const auto* failed = std::get_if<Failed>(&end)) {
    order_.failed(failed->cause);
  } else if (order_.connected()) {
    winner_ = std::get<std::unique_ptr<Stream>>(std::move(end));
    dialer_.dialled = endpoints_[which];
    stop_all();
  }
  pause_.cancel();
}

void DialRace::stop_all() {
  for (AttemptCancel& cancel : cancels_) cancel.cancel();
}

void DialRace::cancel() {
  order_.cancel();
  stop_all();
  pause_.cancel();
}

}  // namespace reprise::net
