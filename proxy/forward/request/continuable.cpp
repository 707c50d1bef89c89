#include "proxy/forward/request/continuable.hpp"

#include "proxy/policy/decision/resume.hpp"

namespace reprise::forward {

policy::PartHead part_of(const policy::RoutePolicy& policy, const http::ResponseHead& head) {
  return http::read_part_head(head, policy.resume.validators, net::Clock::wall_nanoseconds() / 1'000'000'000);
}

policy::DownloadRequest download_request_of(const Incoming& in) {
  return http::read_download_request(in.head, in.view.query);
}

Duration stall_limit_of(const Outgoing& out, const Response& response) {
  const policy::RoutePolicy& policy = *out.route.policy;
  const bool resumes = policy.mode == policy::Mode::active && policy.resume.enabled;
  if (!resumes || out.bound || response.overtook || policy.idle_timeout <= policy.resume.stall)
    return policy.idle_timeout;
  const bool continuable =
      policy::Download::can_begin(download_request_of(out.in), part_of(policy, response.head));
  return continuable ? policy.resume.stall : policy.idle_timeout;
}

}  // namespace reprise::forward
