// Replaces the hosts of a preset's routes by the hosts that the configuration names.
#pragma once

#include <vector>

#include "config/presets/presets.hpp"
#include "proxy/policy/decision/route.hpp"

namespace reprise::config {

class PresetHosts {
 public:
  /// `given` has the hosts that replace the hosts of the preset. If `given` is empty, the preset's hosts are
  /// kept.
  PresetHosts(std::vector<policy::HostPattern> given, const std::vector<PresetRoute>& shipped);

  /// Sets the hosts of a route's match. If a preset has routes for exact names and others for `*.suffix`,
  /// each route gets only hosts of its own form. Returns false if no host has the route's form; the route
  /// must then be omitted.
  bool put(policy::Match&) const;

 private:
  std::vector<policy::HostPattern> all_;
  std::vector<policy::HostPattern> exact_;
  std::vector<policy::HostPattern> wild_;
  bool by_kind_ = false;
};

}  // namespace reprise::config
