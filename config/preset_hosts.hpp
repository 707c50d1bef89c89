// Replaces the hosts of a preset's routes by those that the configuration names.
#pragma once

#include <vector>

#include "config/presets/presets.hpp"
#include "proxy/policy/decision/route.hpp"

namespace reprise::config {

class PresetHosts {
 public:
  /// Keeps the preset's own hosts if `given` is empty.
  PresetHosts(std::vector<policy::HostPattern> given, const std::vector<PresetRoute>& shipped);

  /// Sets the hosts of a route's match. If a preset has routes for exact names and others for `*.suffix`,
  /// each route gets only the hosts of its kind. Returns false if there is no such host: the route is then
  /// left out.
  bool put(policy::Match&) const;

 private:
  std::vector<policy::HostPattern> all_;
  std::vector<policy::HostPattern> exact_;
  std::vector<policy::HostPattern> wild_;
  bool by_kind_ = false;
};

}  // namespace reprise::config
