// The retry budgets of all upstream hosts, shared by the io threads; bounded in number.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "proxy/net/upstream/host_table.hpp"
#include "proxy/policy/pacing/budget.hpp"

namespace reprise::net {

/// `real`: a budget for retries that are sent. `shadow`: a budget for retries that observe mode only counts.
enum class BudgetKind : std::uint8_t { real, shadow };

/// One budget per host:port, settings and kind. Thread-safe. Holds at most `most` hosts, plus those whose
/// budgets are in use. If an evicted host is used again, its budget starts full.
class BudgetTable {
 public:
  explicit BudgetTable(std::size_t most) : hosts_(most) {}

  std::shared_ptr<policy::Budget> account(std::string_view host_port, const policy::BudgetPolicy&,
                                          BudgetKind);
  /// Marks a host as most recently used. Call before releasing the host's budgets. Hosts are evicted in the
  /// order in which they were released.
  void left(std::string_view host_port);
  /// Calls the function with the host:port and the available ratio of every real budget, for the gauge
  /// `reprise_budget_available_ratio`.
  void each(policy::Instant now, const std::function<void(std::string_view host_port, double ratio)>&);

 private:
  struct Account {
    policy::BudgetPolicy policy;
    BudgetKind budget_kind = BudgetKind::real;
    std::shared_ptr<policy::Budget> budget;
  };

  struct Host {
    std::vector<Account> accounts;
    bool held() const;
  };

  std::mutex mutex_;
  HostTable<Host> hosts_;
};

}  // namespace reprise::net
