#include "tests/simulation/book.hpp"

#include <cstdio>
#include <utility>

namespace reprise::simulation {

Account& Book::open(const RequestPlan& plan) {
  Account& account = accounts_[plan.id];
  account.plan = plan;
  account.asked = world_.now();
  return account;
}

Account* Book::find(std::uint64_t id) {
  const auto place = accounts_.find(id);
  return place == accounts_.end() ? nullptr : &place->second;
}

void Book::broken(std::string law) {
  if (telling_) tell("LAW BROKEN: " + law);
  if (broken_.empty()) broken_ = std::move(law);
}

void Book::tell(std::string_view text) {
  if (!telling_) return;
  const double seconds = std::chrono::duration<double>(world_.now() - World::beginning).count();
  std::fprintf(stderr, "%10.4f  %.*s\n", seconds, static_cast<int>(text.size()), text.data());
}

}  // namespace reprise::simulation
