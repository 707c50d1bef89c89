// Small models and policies for the tests of `reprise simulate`.
#pragma once

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "proxy/tools/simulate/modelled_world.hpp"
#include "proxy/tools/simulate/policies.hpp"
#include "proxy/tools/simulate/run.hpp"

namespace reprise::tools {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// Returns a model whose upstream has no limits and no failures, and responds after 1 us.
inline Model calm() {
  Model model;
  model.latency = {Latency::Kind::fixed, std::chrono::microseconds(1), {}, 0};
  model.capacity.reset();
  model.outages.clear();
  model.errors.clear();
  model.clients = 1;
  return model;
}

inline Trouble status(int code, policy::Hints hints = {}) {
  return {policy::Responded{code, hints}, false, std::to_string(code)};
}

/// Returns the defaults of a route, but without a budget, and with short waits without jitter.
inline policy::RoutePolicy plain(unsigned attempts = 6) {
  policy::RoutePolicy policy;
  policy.retry.max_attempts = attempts;
  policy.retry.backoff = {milliseconds(10), 2, seconds(8), policy::Jitter::none};
  policy.budget.reset();
  return policy;
}

inline Subject subject(policy::RoutePolicy policy) {
  policy::Route route;
  route.name = "default";
  route.policy = std::move(policy);
  return {"tested", "", policy::RouteTable({}, std::move(route))};
}

inline Measures simulated(const Model& model, policy::RoutePolicy policy) {
  EXPECT_FALSE(contradiction(model)) << contradiction(model)->why;
  ModelledWorld world(model);
  return run(subject(std::move(policy)), world, options_for(model));
}

inline std::uint64_t ended(const Measures& measures, policy::Reason reason) {
  return measures.ended[static_cast<std::size_t>(reason)];
}

}  // namespace reprise::tools
