#include "proxy/forward/request/facts.hpp"

#include "proxy/http/message/intake.hpp"
#include "proxy/http/retry_hints/signature.hpp"
#include "proxy/policy/decision/gates.hpp"
#include "proxy/policy/match/methods.hpp"

namespace reprise::forward {

policy::Facts facts_of_head(const http::RequestHead& head, const policy::RequestView& view,
                            const policy::RoutePolicy& policy) {
  policy::Facts facts;
  facts.safe_method = policy::is_safe_method(view.method);
  facts.nested = http::is_nested_retry(head);
  facts.create_only = http::is_create_only(head);
  facts.one_time = policy.signature_one_time && http::has_one_time_credentials(head);
  facts.changes_protocol = view.changes_protocol;
  const bool repeat_fails = facts.create_only && !policy::is_idempotent_by_rule(policy);
  facts.copyable = !facts.changes_protocol && !facts.one_time && !repeat_fails;
  return facts;
}

}  // namespace reprise::forward
