// What most tests of `explain` begin with: a table with one route, and a question about a request.
#pragma once

#include "proxy/tools/explain/explanation.hpp"

namespace reprise::tools {

/// Returns a table whose only route, `default`, has this policy.
inline policy::RouteTable only(const policy::RoutePolicy& policy) {
  policy::Route route;
  route.name = "default";
  route.policy = policy;
  return policy::RouteTable({}, std::move(route));
}

/// Returns a question about a request with that method, of which an attempt may have sent bytes.
inline Question question_about(std::string_view method) {
  Question question;
  question.request = {method, "api.internal", 80, "/", "", nullptr};
  question.download.get = method == "GET";
  question.first.sent = policy::Sent::maybe;
  return question;
}

}  // namespace reprise::tools
