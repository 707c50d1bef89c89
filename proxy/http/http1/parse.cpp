#include "proxy/http/http1/parse.hpp"

#include "proxy/http/http1/beast_check.hpp"
#include "proxy/http/http1/guard.hpp"

namespace reprise::http {

Parsed parse_request(std::string_view buffer, const HeadLimits& limits, RequestHead& head) {
  const Parsed parsed = guard_request(buffer, limits, head);
  if (parsed != Parsed{Progress::complete}) return parsed;
  if (const auto disagreement = second_opinion(buffer, head)) return *disagreement;
  return parsed;
}

Parsed parse_response(std::string_view buffer, const HeadLimits& limits, std::string_view request_method,
                      ResponseHead& head) {
  Oddities oddities;
  const Parsed parsed = guard_response(buffer, limits, request_method, head, oddities);
  if (parsed != Parsed{Progress::complete}) return parsed;
  if (const auto disagreement = second_opinion(head, buffer, request_method, oddities)) return *disagreement;
  return parsed;
}

}  // namespace reprise::http
