#include "proxy/forward/request/interim.hpp"

#include "proxy/http/http1/rewrite.hpp"

namespace reprise::forward {

Task<bool> pass_interim(net::Stream& client, Request& request, const http::ResponseHead& head,
                        std::string_view pseudonym) {
  if (request.head.minor_version == 0) co_return true;
  if (head.status == 100) {
    if (request.continue_sent) co_return true;
    request.continue_sent = true;
  }
  std::string lines;
  http::ResponseRewrite rewrite;
  rewrite.via_pseudonym = pseudonym;
  http::write_response_head(head, rewrite, lines);
  net::Gather pieces;
  pieces.add(lines);
  const ErrorCode error = co_await client.write_all(pieces, request.policy->idle_timeout);
  co_return !error;
}

bool waits_for_continue(const Request& request) {
  return !request.continue_sent && request.head.expects_continue() && !request.body.complete();
}

bool waits_in_vain(const Request& request) {
  return waits_for_continue(request) && carrier_of(request)->speaks_1_0();
}

Task<bool> encourage(net::Stream& client, Request& request) {
  request.continue_sent = true;
  net::Gather pieces;
  pieces.add("HTTP/1.1 100 Continue\r\n\r\n");
  const ErrorCode error = co_await client.write_all(pieces, request.policy->idle_timeout);
  co_return !error;
}

}  // namespace reprise::forward
