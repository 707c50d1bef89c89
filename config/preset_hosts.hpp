// Puts the hosts that a configuration names for a preset in the place of the preset's own.
#pragma once

#include <vector>

#include "config/presets/presets.hpp"
#include "proxy/policy/decision/route.hpp"

namespace reprise::config {

class PresetHosts {
 public:
  /// No hosts given: the preset's own stay.
  PresetHosts(std::vector<policy::HostPattern> given, const std::vector<PresetRoute>& shipped);

  /// False: no host of the route's kind was given, so the route is left out. Where a preset has routes for
  /// exact names and others for `*.suffix`, each route takes the hosts of its kind, else it takes all.
  bool put(policy::Match&) const;

 private:
  std::vector<policy::HostPattern> all_;
  std::vector<policy::HostPattern> exact_;
  std::vector<policy::HostPattern> wild_;
  bool by_kind_ = false;
};

}  // namespace reprise::config
