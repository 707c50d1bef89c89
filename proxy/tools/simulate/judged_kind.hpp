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
  /// True if the request counts as not idempotent although the idempotency rule of its route has conditions:
  /// data that is not available here, such as the request body, might meet them.
  bool unknown = false;
};

/// Returns one item for each kind, in the same order. Precondition: the table outlives the result.
std::vector<JudgedKind> judge_kinds(std::span<const RequestKind>, const policy::RouteTable&);

}  // namespace reprise::tools
