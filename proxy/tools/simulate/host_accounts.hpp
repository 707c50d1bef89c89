// The state that a client's reprise has for each upstream host: budgets, circuits, pauses, observed
// latencies.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "proxy/policy/decision/exchange.hpp"
#include "proxy/tools/simulate/judged_kind.hpp"

namespace reprise::tools {

/// The budgets, circuits, pauses and observed latencies of all clients. As in the proxy, the host of a
/// request and the settings of its route select one budget, one circuit and one pause of the client.
class HostAccounts {
 public:
  HostAccounts(std::uint64_t clients, std::span<const RequestKind> kinds, std::span<const JudgedKind> judged);

  policy::HostShare share(std::uint32_t client, std::uint32_t kind);
  /// Returns the latencies that the client has observed on the route of this kind of request. Null if the
  /// route does not hedge.
  policy::ObservedLatency* latency(std::uint32_t client, std::uint32_t kind);
  /// Returns the fraction (0 to 1) that is left in the emptiest budget of all clients. Returns 1 if there are
  /// no budgets.
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

  std::vector<Places> places_;  ///< indexed by kind of request
  std::vector<Client> clients_;
};

}  // namespace reprise::tools
