#include "tests/simulation/dials.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "proxy/net/io/tick.hpp"
#include "tests/simulation/network.hpp"

namespace reprise::simulation {

using asio::ip::address;
using std::chrono::milliseconds;

std::vector<address> DialBook::expect(std::vector<address> found) {
  std::vector<std::string> allowed;
  for (const address& each : found)
    if (each.to_string() != denied_address) allowed.push_back(each.to_string());
  std::sort(allowed.begin(), allowed.end());
  for (const std::string& each : allowed) names_[each] = allowed;
  return found;
}

void DialBook::race_dials(std::span<const tcp::endpoint> order, std::size_t which) {
  Race& race = races_[order.data()];
  if (which == 0) {
    race.assign(order.size(), {});
    std::vector<std::string> all;
    for (const tcp::endpoint& each : order) all.push_back(each.address().to_string());
    std::sort(all.begin(), all.end());
    const auto known = names_.find(all.front());
    if (known == names_.end() || known->second != all)
      book_.broken("a race is run by every allowed address of its name, once");
  }
  if (race.at(which).begun || !has_turn(race, which))
    book_.broken("an address is dialled once the one before it has had its time, or one has failed");
  dialling_ = &race[which];
}

// Returns true if the address at `place` may be dialled. Either the dial of the previous address began at
// least 250 ms ago, or the dial of any earlier address has failed since the previous dial began.
bool DialBook::has_turn(const Race& race, std::size_t place) const {
  if (place == 0) return true;
  const Entrant& last = race[place - 1];
  if (!last.begun) return false;
  const Instant now = world_.now();
  if (now >= *last.begun + milliseconds(250)) return true;
  return std::any_of(
      race.begin(), race.begin() + static_cast<std::ptrdiff_t>(place),
      [&](const Entrant& earlier) { return earlier.fails_from <= now && earlier.fails_by >= *last.begun; });
}

void DialBook::begin(const address& dialled, const Dials::Result& result) {
  const bool is_repeated = result.error.value() == EMFILE;
  descriptors_ran_out_ = descriptors_ran_out_ || is_repeated;
  if (dialling_ == nullptr) {
    const auto known = names_.find(dialled.to_string());
    if (known != names_.end() && known->second.size() > 1 && !descriptors_ran_out_)
      book_.broken("one of several addresses is dialled in a race");
    return;
  }
  const Instant now = world_.now();
  const Instant limit = now + connect_timeout_;
  const Instant latest = limit + 2 * net::Tick::granule;
  *std::exchange(dialling_, nullptr) = {now, result.error ? now : limit,
                                        result.error && !is_repeated ? now : latest};
}

void DialBook::connected(std::weak_ptr<const Wire> wire) {
  world_.after(milliseconds(1), [this, wire = std::move(wire)] {
    const auto there = wire.lock();
    if (there != nullptr && !there->proxy_spoke() && !there->proxy_let_go())
      book_.broken("a connection carries a request at once, or is closed");
  });
}

}  // namespace reprise::simulation
