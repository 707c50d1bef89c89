// A kind of request as its route sees it.
#pragma once

#include <span>
#include <vector>

#include "proxy/policy/decision/route.hpp"
#include "proxy/policy/decision/verdict.hpp"
#include "proxy/tools/simulate/model/model.hpp"

namespace reprise::tools {

struct JudgedKind {
  std::size_t route = 0;
  const policy::RoutePolicy* policy = nullptr;  ///< the table's
  policy::Facts facts;
  bool unknown = false;  ///< the rule asks for what is not known of it: it is taken for not idempotent
};

/// One for each kind, in their order. The table must outlive them.
std::vector<JudgedKind> judge_kinds(std::span<const RequestKind>, const policy::RouteTable&);

}  // namespace reprise::tools
