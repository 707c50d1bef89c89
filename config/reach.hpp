// Whether one match leaves nothing for another: how a route is found that no request can reach.
#pragma once

#include "proxy/policy/decision/route.hpp"

namespace reprise::config {

/// True if every request that `later` matches is matched by `earlier`. It may say false where that is hard to
/// tell, never true where it is not so.
bool covers(const policy::Match& earlier, const policy::Match& later);

}  // namespace reprise::config
