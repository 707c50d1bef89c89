#include "proxy/forward/request/interim.hpp"

#include "proxy/http/http1/rewrite.hpp"

namespace reprise::forward {

Task<bool> pass_interim(net::ClientEnd& client, Outgoing& out, const http::ResponseHead& head,
                        std::string_view pseudonym) {
  if (out.in.head.minor_version == 0) co_return true;
  if (head.status == 100) {
    if (out.continue_sent) co_return true;
    out.continue_sent = true;
  }
  std::string lines;
  http::ResponseRewrite rewrite;
  rewrite.via_pseudonym = pseudonym;
  http::write_response_head(head, rewrite, lines);
  const ErrorCode error = co_await client.send_interim(lines, out.route.policy->idle_timeout);
  co_return !error;
}

Task<bool> send_continue(net::ClientEnd& client, Outgoing& out) {
  out.continue_sent = true;
  const ErrorCode error =
      co_await client.send_interim("HTTP/1.1 100 Continue\r\n\r\n", out.route.policy->idle_timeout);
  co_return !error;
}

}  // namespace reprise::forward
