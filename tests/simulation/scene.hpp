// The scene of a story, drawn from the seed: the configuration, and which clients send what.
#pragma once

#include <memory>
#include <vector>

#include "config/settings.hpp"
#include "tests/simulation/client.hpp"
#include "tests/simulation/fault.hpp"
#include "tests/simulation/http2_intake.hpp"
#include "tests/simulation/purpose.hpp"
#include "tests/simulation/tunnel.hpp"

namespace reprise::simulation {

/// One client connection and its start time.
struct Arrival {
  Duration at{};
  ClientPlan client;
};

/// One tunnel and its start time.
struct TunnelArrival {
  Duration at{};
  TunnelPlan plan;
};

struct Scene {
  config::Settings settings;
  policy::RoutePolicy policy;  ///< policy of the only route
  std::vector<Arrival> arrivals;
  std::optional<TunnelArrival> tunnel;
  std::optional<Duration> drains_at;
  /// Time at which a drain begins. One second later, all remaining connections are aborted.
  std::optional<Duration> terminates_at;
  std::optional<Duration> clock_jumps_at;
  Duration clock_jump{};
  std::uint64_t disk_room = ~std::uint64_t{0};
  bool disk_breaks = false;         ///< reading from the disk fails
  std::optional<Http2Terms> http2;  ///< the upstreams speak HTTP/2
};

Scene draw_scene(Seed seed, Faults& faults);
/// Returns the verdict of the route's idempotency rule on a request. Does not use the product's code.
bool is_idempotent(const policy::IdempotencyRule& rule, const RequestPlan& request);
/// Returns a client that sends one plain GET, after the faults have ended.
ClientPlan plain_request(std::uint64_t id, const std::string& host, const policy::IdempotencyRule& rule);

}  // namespace reprise::simulation
