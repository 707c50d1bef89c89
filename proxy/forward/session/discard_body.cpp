#include "proxy/forward/session/discard_body.hpp"

#include <algorithm>

#include "proxy/http/message/ascii.hpp"
#include "proxy/net/io/lingering_close.hpp"

namespace reprise::forward {
namespace {

bool looks_like_its_request(const http::RequestHead& head, std::string_view bytes) {
  std::string line(head.method);
  http::ascii::append(line, " ", head.target, " HTTP/1.");
  return bytes.starts_with(line);
}

}  // namespace

Task<Discarded> discard_body(const http::RequestHead& head, RequestBody& body, Duration first_byte_limit) {
  body.release_held();
  const bool is_unsent = body.received() == 0;
  Instant until = net::Tick::now() + (is_unsent ? first_byte_limit : net::linger_time);
  bool is_first = is_unsent;
  while (!body.complete()) {
    const Instant now = net::Tick::now();
    std::string_view piece;
    const Duration patience = is_first ? first_byte_limit : std::min<Duration>(net::linger_idle, until - now);
    if (patience <= Duration::zero()) break;
    if (co_await body.next(patience, piece) != net::BodyStep::piece) break;
    if (is_first && looks_like_its_request(head, piece)) co_return Discarded::asked_again;
    if (is_first) until = net::Tick::now() + net::linger_time;
    is_first = false;
  }
  co_return body.complete() ? Discarded::whole : Discarded::unfinished;
}

}  // namespace reprise::forward
