// Rules for when a request may be sent again, for the laws of stories and fuzz targets. Implements these
// rules a second time, without the product's gates.
#pragma once

#include <algorithm>
#include <array>

#include "proxy/policy/decision/route_policy.hpp"
#include "proxy/policy/decision/verdict.hpp"

namespace reprise::play {

inline bool by_rule(const policy::RoutePolicy& policy) {
  return policy.idempotent.kind != policy::IdempotencyRule::Kind::by_method;
}

/// Returns true if the request may be retried after a lost response. A retried create-only request can fail
/// because of its first attempt, so it may be retried only if an idempotency rule allows that.
inline bool may_follow_loss(const policy::Facts& facts, const policy::RoutePolicy& policy,
                            policy::Idempotency judged) {
  return judged == policy::Idempotency::yes && (by_rule(policy) || !facts.create_only);
}

/// Returns true if the response shows that the upstream did nothing: by its status, by its body, or because
/// it refused a change of protocol for now (rows N15, N18).
inline bool says_nothing_was_done(const policy::Facts& facts, const policy::RoutePolicy& policy,
                                  const policy::Outcome& outcome) {
  const auto* responded = std::get_if<policy::Responded>(&outcome);
  if (responded == nullptr) return false;
  const int code = responded->status;
  const bool by_status =
      code >= 0 && code < 600 && policy.retry.refused.statuses.test(static_cast<std::size_t>(code));
  const bool not_begun =
      facts.changes_protocol && (code == 429 || code == 503) && policy.retry.on.lists(outcome);
  return by_status || not_begun || responded->body_refused;
}

/// Returns true if the status may be caused by the effect of an earlier attempt of the proxy (row N16).
inline bool may_tell_of_repeat(int status) {
  constexpr std::array telling{401, 403, 404, 405, 409, 410, 412, 422};
  return std::find(telling.begin(), telling.end(), status) != telling.end();
}

/// Returns true if the response may be caused by the effect of an earlier attempt of the proxy (rows N16 and
/// M90).
inline bool may_tell_of_repeat(const policy::Responded& response) {
  // not_found, already_exists, failed_precondition and aborted
  constexpr std::array telling{5, 6, 9, 10};
  const int call = response.grpc ? static_cast<int>(*response.grpc) : 0;
  return may_tell_of_repeat(response.status) ||
         std::find(telling.begin(), telling.end(), call) != telling.end();
}

/// Returns true if the client must get the failure of the lost attempt instead of a response that contradicts
/// it (row N16).
inline bool keeps_lost_failure(const policy::RoutePolicy& policy) {
  return policy.ambiguous == policy::Ambiguous::failure ||
         (policy.ambiguous == policy::Ambiguous::automatic && !by_rule(policy));
}

}  // namespace reprise::play
