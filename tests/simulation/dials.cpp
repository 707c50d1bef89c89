#include "tests/simulation/dials.hpp"

#include <algorithm>
#include <deque>

#include "proxy/io/tick.hpp"
#include "tests/simulation/network.hpp"

namespace reprise::simulation {

using net::asio::ip::address;
using std::chrono::milliseconds;

std::vector<address> DialBook::expect(std::vector<address> found) {
  std::deque<std::string> families[2];
  for (const address& each : found) families[each.is_v6() ? 1 : 0].push_back(each.to_string());
  std::string before;
  for (std::size_t turn = found.front().is_v6() ? 1 : 0; !families[0].empty() || !families[1].empty();
       turn = 1 - turn) {
    if (families[turn].empty()) continue;
    const std::string next = families[turn].front();
    families[turn].pop_front();
    if (next == denied_address) continue;
    addresses_[next].before = before;
    before = next;
  }
  return found;
}

// The one before it has been alone for a while, or meanwhile one of those before has failed.
bool DialBook::has_turn(const Known& address) const {
  if (address.before.empty()) return true;
  const Instant now = world_.now();
  const std::vector<Dialled>& last = addresses_.at(address.before).dials;
  return std::any_of(last.begin(), last.end(), [&](const Dialled& one) {
    if (now >= one.begun + milliseconds(250)) return true;
    for (std::string name = address.before; !name.empty(); name = addresses_.at(name).before) {
      const std::vector<Dialled>& dials = addresses_.at(name).dials;
      const bool failed = std::any_of(dials.begin(), dials.end(), [&](const Dialled& earlier) {
        return earlier.fails_from <= now && earlier.fails_by >= one.begun;
      });
      if (failed) return true;
    }
    return false;
  });
}

void DialBook::begin(const address& dialled, const Dials::Result& result) {
  const auto known = addresses_.find(dialled.to_string());
  if (known == addresses_.end()) return;
  if (!has_turn(known->second))
    book_.broken("an address is dialled once the one before it has had its time, or one has failed");
  const Instant now = world_.now();
  const Instant limit = now + connect_timeout_;
  known->second.dials.push_back(
      {now, result.error ? now : limit, result.error ? now : limit + 2 * net::Tick::granule});
}

void DialBook::connected(std::weak_ptr<const Wire> wire) {
  world_.after(milliseconds(1), [this, wire = std::move(wire)] {
    const auto there = wire.lock();
    if (there != nullptr && !there->proxy_spoke() && !there->proxy_let_go())
      book_.broken("a connection carries a request at once, or is closed");
  });
}

}  // namespace reprise::simulation
