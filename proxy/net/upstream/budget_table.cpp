#include "proxy/net/upstream/budget_table.hpp"

#include <algorithm>

namespace reprise::net {

bool BudgetTable::Host::held() const {
  return std::any_of(accounts.begin(), accounts.end(),
                     [](const Account& account) { return account.budget.use_count() > 1; });
}

std::shared_ptr<policy::Budget> BudgetTable::account(std::string_view host_port,
                                                     const policy::BudgetPolicy& policy,
                                                     BudgetKind budget_kind) {
  const std::scoped_lock lock(mutex_);
  std::vector<Account>& accounts = hosts_.at(host_port).accounts;
  for (const Account& account : accounts) {
    if (account.policy == policy && account.budget_kind == budget_kind) return account.budget;
  }
  accounts.push_back({policy, budget_kind, std::make_shared<policy::Budget>(policy)});
  return accounts.back().budget;
}

void BudgetTable::left(std::string_view host_port) {
  const std::scoped_lock lock(mutex_);
  hosts_.left(host_port);
}

void BudgetTable::each(policy::Instant now, const std::function<void(std::string_view, double)>& report) {
  const std::scoped_lock lock(mutex_);
  hosts_.each([&](std::string_view host_port, const Host& host) {
    for (const Account& account : host.accounts) {
      if (account.budget_kind == BudgetKind::real) report(host_port, account.budget->available_ratio(now));
    }
  });
}

}  // namespace reprise::net
