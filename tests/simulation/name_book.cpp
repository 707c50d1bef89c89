#include "tests/simulation/name_book.hpp"

#include <algorithm>

namespace reprise::simulation {

using asio::ip::address;

address NameBook::fresh() { return asio::ip::make_address_v4(0x0A000000U + ++addresses_); }

void NameBook::responded(const std::string& name, std::optional<address> only) {
  moments_[name].push_back(world_.now());
  if (only) responses_[only->to_string()] = {name, world_.now(), {}};
}

// The proxy dials as soon as it has a lookup result. Its choice of the address must therefore respect all
// earlier events. Events at the same moment have no order, so the comparisons are strict.
void NameBook::dialled(const address& dialled, const Dials::Result& result) {
  const auto place = responses_.find(dialled.to_string());
  if (place == responses_.end()) return;
  Response& response = place->second;
  const Instant now = world_.now();
  if (now > response.given + std::chrono::seconds(10))
    book_.broken("an answer is kept for ten seconds at most");
  if (response.failed && now > *response.failed)
    book_.broken("a name is asked for again once a dial of what it resolved to has failed");
  const Instant last = moments_.at(response.name).back();
  if (last > response.given && now > last) book_.broken("no answer outlives the one that came after it");
  // After EMFILE, an idle connection is closed and the same address is dialled again at once. If the second
  // dial succeeds, the address has not failed.
  if (!result.error && response.failed == now) response.failed.reset();
}

void NameBook::failed(const address& dialled) {
  const auto place = responses_.find(dialled.to_string());
  if (place != responses_.end() && !place->second.failed) place->second.failed = world_.now();
}

bool NameBook::was_answered(const std::string& name, Instant when) const {
  const auto moments = moments_.find(name);
  return moments != moments_.end() &&
         std::find(moments->second.begin(), moments->second.end(), when) != moments->second.end();
}

}  // namespace reprise::simulation
