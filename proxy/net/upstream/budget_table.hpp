// The retry budgets of all upstream hosts: shared by the io threads, bounded in number.
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

/// Who draws: retries that are sent, or those that observe mode only records.
enum class BudgetKind : std::uint8_t { real, shadow };

/// One account per host:port, budget settings and kind. Thread-safe. At most `most` hosts, and those whose
/// accounts somebody holds; a forgotten one starts full.
class BudgetTable {
 public:
  explicit BudgetTable(std::size_t most) : hosts_(most) {}

  std::shared_ptr<policy::Budget> account(std::string_view host_port, const policy::BudgetPolicy&,
                                          BudgetKind);
  /// To be told before somebody lets go of that host's accounts: the one let go of first is forgotten first.
  void left(std::string_view host_port);
  /// Calls back with every real account's host:port and what is left of it, for the gauge.
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
