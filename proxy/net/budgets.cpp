#include "proxy/net/budgets.hpp"

#include <algorithm>

namespace reprise::net {

std::shared_ptr<policy::Budget> Budgets::account(std::string_view host_port,
                                                 const policy::BudgetPolicy& policy, Purse purse) {
  const std::scoped_lock lock(mutex_);
  std::string key(host_port);
  if (hosts_.size() >= most_ && !hosts_.contains(key)) forget_oldest();
  Host& host = hosts_[std::move(key)];
  host.asked = ++clock_;
  for (const Account& account : host.accounts) {
    if (account.policy == policy && account.purse == purse) return account.budget;
  }
  host.accounts.push_back({policy, purse, std::make_shared<policy::Budget>(policy)});
  return host.accounts.back().budget;
}

void Budgets::each(policy::Instant now, const std::function<void(std::string_view, double)>& report) {
  const std::scoped_lock lock(mutex_);
  for (const auto& [name, host] : hosts_) {
    for (const Account& account : host.accounts) {
      if (account.purse == Purse::real) report(name, account.budget->available_ratio(now));
    }
  }
}

void Budgets::forget_oldest() {
  const auto oldest = std::min_element(hosts_.begin(), hosts_.end(), [](const auto& a, const auto& b) {
    return a.second.asked < b.second.asked;
  });
  if (oldest != hosts_.end()) hosts_.erase(oldest);
}

}  // namespace reprise::net
