#include "proxy/forward/request/incoming.hpp"

#include "proxy/net/io/block.hpp"

namespace reprise::forward {

void Incoming::clear() {
  client = listener = {};
  listener_settings.reset();
  listener_closed = &never_closed;
  kind = RequestKind::forward;
  head.reset();
  net::empty_out(head.fields);
  view = {};
  below_upstream.clear();
  started = {};
}

http::ToH2c to_h2c(const Incoming& in) {
  const bool offers = in.head.find("HTTP2-Settings") != nullptr;
  return addresses_a_proxy(in.kind) || offers ? http::ToH2c::dropped : http::ToH2c::passed;
}

}  // namespace reprise::forward
