// Decides whether one match hides another, in order to find routes that no request can reach.
#pragma once

#include "proxy/policy/decision/route.hpp"

namespace reprise::config {

/// Returns true if every request that `later` matches is also matched by `earlier`. May return false in hard
/// cases, but never true by mistake.
bool covers(const policy::Match& earlier, const policy::Match& later);

}  // namespace reprise::config
