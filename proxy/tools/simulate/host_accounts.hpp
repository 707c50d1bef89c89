// What a client's reprise keeps for each upstream host: budgets, circuits, pauses, observed latencies.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "proxy/policy/decision/exchange.hpp"
#include "proxy/tools/simulate/judged_kind.hpp"

namespace reprise::tools {

/// The accounts of all clients. Each kind of request uses one budget, one circuit and one pause of its
/// client: those of its host and of its route's settings, as in the proxy.
class HostAccounts {
 public:
  HostAccounts(std::uint64_t clients, std::span<const RequestKind> kinds, std::span<const JudgedKind> judged);

  policy::HostShare share(std::uint32_t client, std::uint32_t kind);
  /// Returns null if the route does not hedge.
  policy::ObservedLatency* latency(std::uint32_t client, std::uint32_t kind);
  /// Returns the fraction left of the emptiest of all budgets, 0 to 1; 1 if there are no budgets.
  double worst_budget(policy::Instant now);

 private:
  static constexpr std::size_t none = static_cast<std::size_t>(-1);

  struct Places {
    std::size_t budget = none;
    std::size_t circuit = none;
    std::size_t pause = none;
    std::size_t latency = none;
  };
  struct Client {
    std::vector<std::unique_ptr<policy::Budget>> budgets;
    std::vector<std::unique_ptr<policy::Circuit>> circuits;
    std::vector<std::unique_ptr<policy::HostPause>> pauses;
    std::vector<std::unique_ptr<policy::ObservedLatency>> latencies;
  };

  std::vector<Places> places_;  ///< by kind of request
  std::vector<Client> clients_;
};

}  // namespace reprise::tools
