// The scene of a story: what the operator configured, and who asks for what, drawn from the seed.
#pragma once

#include <memory>
#include <vector>

#include "config/settings.hpp"
#include "tests/simulation/client.hpp"
#include "tests/simulation/fault.hpp"
#include "tests/simulation/purpose.hpp"
#include "tests/simulation/tunnel.hpp"

namespace reprise::simulation {

/// One client connection and when it comes.
struct Arrival {
  Duration at{};
  ClientPlan client;
};

/// One tunnel and when it is asked for.
struct TunnelArrival {
  Duration at{};
  TunnelPlan plan;
};

struct Scene {
  config::Settings settings;
  policy::RoutePolicy policy;  ///< of the only route
  std::vector<Arrival> arrivals;
  std::optional<TunnelArrival> tunnel;
  std::optional<Duration> drains_at;
  std::optional<Duration> terminates_at;  ///< and ends what is left
  std::optional<Duration> clock_jumps_at;
  Duration clock_jump{};
  std::uint64_t disk_room = ~std::uint64_t{0};
  bool disk_breaks = false;  ///< reading it back fails
};

Scene draw_scene(Seed seed, Faults& faults);
/// What the route's rule says of a request: judged from the scene, with code of its own.
bool is_idempotent(const policy::IdempotencyRule& rule, const RequestPlan& request);
/// After the faults: one plain GET.
ClientPlan plain_request(std::uint64_t id, const std::string& host, const policy::IdempotencyRule& rule);

}  // namespace reprise::simulation
