#include "proxy/forward/request/continuable.hpp"

#include "proxy/policy/decision/resume.hpp"

namespace reprise::forward {

policy::PartHead part_of(const Request& request, const http::ResponseHead& head) {
  return http::read_part_head(head, request.policy->resume.validators,
                              net::Clock::wall_nanoseconds() / 1'000'000'000);
}

policy::DownloadRequest asked_by(const Request& request) {
  return http::read_download_request(request.head, request.view.query);
}

Duration patience_with(const Request& request, const Response& response) {
  const policy::RoutePolicy& policy = *request.policy;
  const bool resumes = policy.mode == policy::Mode::active && policy.resume.enabled;
  if (!resumes || request.bound || response.overtook || policy.idle_timeout <= policy.resume.stall)
    return policy.idle_timeout;
  const bool continuable = policy::Download::can_begin(asked_by(request), part_of(request, response.head));
  return continuable ? policy.resume.stall : policy.idle_timeout;
}

}  // namespace reprise::forward
