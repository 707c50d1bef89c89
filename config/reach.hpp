// Decides whether one match covers another, in order to find routes that no request can reach.
#pragma once

#include "proxy/policy/decision/route.hpp"

namespace reprise::config {

/// Returns true only if `earlier` matches every request that `later` matches. May return false although
/// `earlier` covers `later`, because not every case is recognized.
bool covers(const policy::Match& earlier, const policy::Match& later);

}  // namespace reprise::config
