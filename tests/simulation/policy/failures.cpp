#include "tests/simulation/policy/failures.hpp"

#include <algorithm>

namespace reprise::simulation {
namespace {

using policy::Cause;
using policy::Failed;
using policy::Stage;

// Why the table lacks the other pairs of stage and cause:
//   resolve: no connection exists yet that could break, and no address is known that could be denied.
//   connect: the name is already resolved. No byte of the request is exchanged yet, so no head can be
//     malformed and no response can time out. On an HTTP/2 connection, the stage lasts until the SETTINGS.
//   tls: connect_timeout bounds the handshake. In this stage and all later ones, bytes that are not TLS are
//     tls_protocol_error.
//   send, await_head, head: the connection is already established. A head that is malformed or too large has
//     begun, so the stage is `head`. Only a request that is still being sent can end with replay_lost.
//   body, held or relayed: the cause is `truncated` if the body stalls, or if it ends early without a reset.
constexpr Failed table[] = {
    {Stage::resolve, Cause::dns_error},
    {Stage::resolve, Cause::dns_timeout},
    {Stage::resolve, Cause::cancelled},
    {Stage::connect, Cause::refused},
    {Stage::connect, Cause::unreachable},
    {Stage::connect, Cause::connect_timeout},
    {Stage::connect, Cause::no_local_port},
    {Stage::connect, Cause::no_descriptor},
    {Stage::connect, Cause::address_denied},
    {Stage::connect, Cause::address_is_self},
    {Stage::connect, Cause::parent_unreachable},
    {Stage::connect, Cause::parent_timeout},
    {Stage::connect, Cause::parent_refused},
    {Stage::connect, Cause::closed},
    {Stage::connect, Cause::reset},
    {Stage::connect, Cause::not_http2},
    {Stage::connect, Cause::goaway},
    {Stage::connect, Cause::http_1_1_required},
    {Stage::connect, Cause::cancelled},
    {Stage::tls, Cause::connect_timeout},
    {Stage::tls, Cause::closed},
    {Stage::tls, Cause::reset},
    {Stage::tls, Cause::keepalive_lost},
    {Stage::tls, Cause::tls_protocol_error},
    {Stage::tls, Cause::tls_certificate_error},
    {Stage::tls, Cause::tls_alert_received},
    {Stage::tls, Cause::not_http2},
    {Stage::tls, Cause::goaway},
    {Stage::tls, Cause::http_1_1_required},
    {Stage::tls, Cause::cancelled},
    {Stage::send, Cause::closed},
    {Stage::send, Cause::reset},
    {Stage::send, Cause::keepalive_lost},
    {Stage::send, Cause::unacknowledged},
    {Stage::send, Cause::stream_refused},
    {Stage::send, Cause::stream_reset},
    {Stage::send, Cause::goaway},
    {Stage::send, Cause::http_1_1_required},
    {Stage::send, Cause::tls_protocol_error},
    {Stage::send, Cause::attempt_timeout},
    {Stage::send, Cause::response_timeout},
    {Stage::send, Cause::cancelled},
    {Stage::send, Cause::replay_lost},
    {Stage::await_head, Cause::closed},
    {Stage::await_head, Cause::reset},
    {Stage::await_head, Cause::keepalive_lost},
    {Stage::await_head, Cause::unacknowledged},
    {Stage::await_head, Cause::stream_refused},
    {Stage::await_head, Cause::stream_reset},
    {Stage::await_head, Cause::goaway},
    {Stage::await_head, Cause::http_1_1_required},
    {Stage::await_head, Cause::tls_protocol_error},
    {Stage::await_head, Cause::attempt_timeout},
    {Stage::await_head, Cause::response_timeout},
    {Stage::await_head, Cause::cancelled},
    {Stage::head, Cause::closed},
    {Stage::head, Cause::reset},
    {Stage::head, Cause::keepalive_lost},
    {Stage::head, Cause::tls_protocol_error},
    {Stage::head, Cause::attempt_timeout},
    {Stage::head, Cause::response_timeout},
    {Stage::head, Cause::malformed_response},
    {Stage::head, Cause::header_too_large},
    {Stage::head, Cause::cancelled},
    {Stage::body, Cause::reset},
    {Stage::body, Cause::malformed_response},
    {Stage::body, Cause::truncated},
    {Stage::body, Cause::cancelled},
};

}  // namespace

std::span<const Failed> possible_failures() { return table; }

bool is_possible(const Failed& failed) {
  return std::any_of(std::begin(table), std::end(table), [&](const Failed& one) {
    return one.stage == failed.stage && one.cause == failed.cause;
  });
}

}  // namespace reprise::simulation
