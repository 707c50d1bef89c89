#include "proxy/tools/simulate/host_accounts.hpp"

#include "proxy/policy/decision/gates.hpp"

#include <algorithm>
#include <string>
#include <tuple>

namespace reprise::tools {
namespace {

/// Key of a budget, circuit or pause: the upstream host and the settings. For each key, each client has its
/// own budget, circuit or pause.
template <typename Settings>
struct Account {
  std::string host;
  std::uint16_t port = 0;
  Settings settings;

  bool operator==(const Account&) const = default;
};

template <typename Value>
std::size_t place_of(const Value& wanted, std::vector<Value>& all) {
  const auto found = std::find(all.begin(), all.end(), wanted);
  if (found != all.end()) return static_cast<std::size_t>(found - all.begin());
  all.push_back(wanted);
  return all.size() - 1;
}

}  // namespace

HostAccounts::HostAccounts(std::uint64_t clients, std::span<const RequestKind> kinds,
                           std::span<const JudgedKind> judged) {
  // The bool is true for an active route: routes in observe mode do not share the budget of active routes.
  std::vector<Account<std::pair<policy::BudgetPolicy, bool>>> budgets;
  std::vector<Account<policy::CircuitPolicy>> circuits;
  std::vector<Account<bool>> pauses;
  std::vector<std::size_t> latencies;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    const policy::RoutePolicy& policy = *judged[i].policy;
    const bool active = policy.mode == policy::Mode::active;
    const policy::HostParts parts = policy::host_parts(policy);
    Places places;
    if (parts.budget)
      places.budget = place_of({kinds[i].host, kinds[i].port, {*policy.budget, active}}, budgets);
    if (parts.circuit) places.circuit = place_of({kinds[i].host, kinds[i].port, *policy.circuit}, circuits);
    if (parts.pause) places.pause = place_of({kinds[i].host, kinds[i].port, true}, pauses);
    if (policy.hedge) places.latency = place_of(judged[i].route, latencies);
    places_.push_back(places);
  }
  clients_.resize(clients);
  for (Client& client : clients_) {
    for (const auto& account : budgets)
      client.budgets.push_back(std::make_unique<policy::Budget>(account.settings.first));
    for (const auto& account : circuits)
      client.circuits.push_back(std::make_unique<policy::Circuit>(account.settings));
    for (std::size_t i = 0; i < pauses.size(); ++i)
      client.pauses.push_back(std::make_unique<policy::HostPause>());
    for (std::size_t i = 0; i < latencies.size(); ++i)
      client.latencies.push_back(std::make_unique<policy::ObservedLatency>());
  }
}

policy::HostShare HostAccounts::share(std::uint32_t of_client, std::uint32_t kind) {
  Client& client = clients_[of_client];
  const Places& places = places_[kind];
  return {places.budget == none ? nullptr : client.budgets[places.budget].get(),
          places.circuit == none ? nullptr : client.circuits[places.circuit].get(),
          places.pause == none ? nullptr : client.pauses[places.pause].get()};
}

policy::ObservedLatency* HostAccounts::latency(std::uint32_t client, std::uint32_t kind) {
  const std::size_t place = places_[kind].latency;
  return place == none ? nullptr : clients_[client].latencies[place].get();
}

double HostAccounts::worst_budget(policy::Instant now) {
  double worst = 1;
  for (Client& client : clients_) {
    for (const auto& budget : client.budgets) worst = std::min(worst, budget->available_ratio(now));
  }
  return worst;
}

}  // namespace reprise::tools
