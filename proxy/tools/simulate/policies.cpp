#include "proxy/tools/simulate/policies.hpp"

#include <algorithm>
#include <array>

namespace reprise::tools {
namespace {

using policy::RoutePolicy;

// Changes the policy so that reprise only forwards requests: it neither retries nor hedges.
void without_retries(RoutePolicy& policy) {
  policy.mode = policy::Mode::off;
  policy.hedge.reset();
}

// Changes the policy to a naive retry loop: it retries at once, without backoff, hints, budget, circuit or
// hedges.
void at_once(RoutePolicy& policy) {
  policy.retry.backoff = {Duration::zero(), 1, Duration::zero(), policy::Jitter::none};
  policy.retry.retry_after.honour = false;
  policy.budget.reset();
  policy.circuit.reset();
  policy.hedge.reset();
  policy.while_paused = policy::WhilePaused::go;
}

void without_jitter(RoutePolicy& policy) { policy.retry.backoff.jitter = policy::Jitter::none; }

void without_budget(RoutePolicy& policy) { policy.budget.reset(); }

void as_it_is(RoutePolicy&) {}

struct Row {
  std::string_view word;
  std::string_view name;
  std::string_view sentence;
  void (*change)(RoutePolicy&);
};

constexpr std::array<Row, 5> rows{{
    {"none", "no retry", "each request is sent once, as if reprise were not there", &without_retries},
    {"immediate", "immediate retries",
     "as many attempts as the configuration allows, without waits, budget, circuit or retry hints", &at_once},
    {"no-jitter", "without jitter", "the configuration, with waits that do not vary", &without_jitter},
    {"no-budget", "without budget", "the configuration, without a retry budget", &without_budget},
    {"config", "as configured", "the configuration, unchanged", &as_it_is},
}};

}  // namespace

std::vector<std::string_view> policy_words() {
  std::vector<std::string_view> words;
  words.reserve(rows.size());
  for (const Row& row : rows) words.push_back(row.word);
  return words;
}

std::optional<Subject> policy_of(std::string_view word, const policy::RouteTable& config) {
  for (const Row& row : rows) {
    if (row.word != word) continue;
    std::vector<policy::Route> routes;
    routes.reserve(config.size());
    for (std::size_t i = 0; i < config.size(); ++i) {
      routes.push_back(config[i]);
      row.change(routes.back().policy);
    }
    policy::Route fallback = std::move(routes.back());
    routes.pop_back();
    return Subject{std::string(row.name), std::string(row.sentence),
                   policy::RouteTable(std::move(routes), std::move(fallback))};
  }
  return std::nullopt;
}

std::vector<std::string> split_policies(const std::vector<std::string>& lists) {
  std::vector<std::string> words;
  for (const std::string& list : lists) {
    for (std::size_t at = 0; at <= list.size();) {
      const std::size_t end = std::min(list.find(',', at), list.size());
      words.push_back(list.substr(at, end - at));
      at = end + 1;
    }
  }
  return words;
}

std::string unknown_policy(std::string_view word) {
  std::string text = "unknown policy \"" + std::string(word) + "\": write ";
  for (const Row& row : rows) text.append(row.word).append(", ");
  return text + "or a configuration file";
}

}  // namespace reprise::tools
