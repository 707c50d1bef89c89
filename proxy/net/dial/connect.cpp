#include "proxy/net/dial/connect.hpp"

#include "proxy/net/dial/dial.hpp"
#include "proxy/net/dial/secure.hpp"
#include "proxy/net/upstream/warning.hpp"
#include "proxy/telemetry/log/json_text.hpp"

namespace reprise::net {

using policy::Cause;
using policy::Failed;
using policy::Stage;

namespace {

void warn_of_denied_upstream(Dialer& dialer, Upstream& upstream, Cause cause) {
  if (cause != Cause::address_denied && cause != Cause::address_is_self) return;
  std::string text(telemetry::clipped(upstream.account));
  text.append(cause == Cause::address_denied
                  ? " is not dialled: security.deny lists every address of it"
                  : " is not dialled: it is a listener of this proxy, so the request would loop");
  warn_of(dialer.log, upstream, text);
}

}  // namespace

Task<Dialled> connect(Dialer& dialer, const ParentRoute& route, ConnectTime time, AttemptCancel& cancel,
                      Buffer& early) {
  Upstream& upstream = route.upstream;
  // Avoids the conditional operator, because GCC 12 destroys the result of a co_await inside such an operator
  // twice.
  Dialled dialled;
  if (upstream.parent == nullptr) {
    dialled = co_await dial(dialer, upstream.host, upstream.port, time, cancel);
  } else {
    dialled = co_await dial_through_parent(dialer, route, time, cancel, early);
  }
  if (const auto* failed = std::get_if<Failed>(&dialled))
    warn_of_denied_upstream(dialer, upstream, failed->cause);
  if (auto* stream = std::get_if<std::unique_ptr<Stream>>(&dialled); stream != nullptr && upstream.tls) {
    // A TLS server sends nothing before the ClientHello.
    if (!early.empty()) co_return Failed{Stage::tls, Cause::tls_protocol_error};
    dialled = co_await secure(dialer, upstream, std::move(*stream), time, cancel);
  }
  co_return dialled;
}

}  // namespace reprise::net
