// Decides whether one match covers another, in order to find routes that no request can reach.
#pragma once

#include "proxy/policy/decision/route.hpp"

namespace reprise::config {

/// Returns true if `earlier` also matches every request that `later` matches. May miss such a case, but is
/// never wrong if it returns true.
bool covers(const policy::Match& earlier, const policy::Match& later);

}  // namespace reprise::config
