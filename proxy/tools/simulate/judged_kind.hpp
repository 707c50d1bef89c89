// A kind of request, with its route and its idempotency.
#pragma once

#include <span>
#include <vector>

#include "proxy/policy/decision/route.hpp"
#include "proxy/policy/decision/verdict.hpp"
#include "proxy/tools/simulate/model/model.hpp"

namespace reprise::tools {

struct JudgedKind {
  std::size_t route = 0;
  const policy::RoutePolicy* policy = nullptr;  ///< owned by the route table
  policy::Facts facts;
  /// True if the request counts as not idempotent only because data is missing: the idempotency rule of its
  /// route has conditions on data that a simulation does not have, such as the request body.
  bool unknown = false;
};

/// Returns one item for each kind, in the same order. Precondition: the table outlives the result.
std::vector<JudgedKind> judge_kinds(std::span<const RequestKind>, const policy::RouteTable&);

}  // namespace reprise::tools
