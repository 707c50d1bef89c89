#include "proxy/net/dial/secure.hpp"

#include "proxy/http/http1/reply.hpp"
#include "proxy/net/io/failure.hpp"
#include "proxy/net/tls/tls_link.hpp"
#include "proxy/net/upstream/warning.hpp"
#include "proxy/telemetry/log/json_text.hpp"

namespace reprise::net {

using policy::Cause;
using policy::Failed;
using policy::Stage;

namespace {

std::unique_ptr<SecureLink> make_secure(Dialer& dialer, const Upstream& upstream, Carrier carrier,
                                        Protocol protocol) {
  if (dialer.links.make_secure) return dialer.links.make_secure(std::move(carrier), upstream.server_name);
  return std::make_unique<TlsLink>(std::move(carrier), *upstream.tls, upstream.server_name, upstream.ticket,
                                   protocol);
}

void log_handshake_failure(Dialer& dialer, Upstream& upstream, bool of_parent, std::string_view words) {
  std::string text("TLS with ");
  if (of_parent) text.append("the parent proxy ");
  text.append(telemetry::clipped(upstream.account)).append(" as ");
  text.append(telemetry::clipped(upstream.server_name)).append(" failed: ").append(telemetry::clipped(words));
  warn_of(dialer.log, upstream, text);
}

}  // namespace

Task<Dialled> secure(Dialer& dialer, Upstream& upstream, std::unique_ptr<Stream> plain,
                     const ConnectTime& time, AttemptCancel& cancel, bool of_parent) {
  const Instant due = time.end_of_handshake(plain->connect_began());
  auto kept = plain->release_kept();
  const Protocol protocol = of_parent ? Protocol::http1 : dialer.protocol;
  auto made = make_secure(dialer, upstream, plain->release(), protocol);
  SecureLink& link = *made;
  auto stream = std::make_unique<Stream>(dialer.tick, std::move(made));
  stream->keep(std::move(kept));
  stream->set_connect_began(plain->connect_began());
  AttemptCancel::Target target(cancel, *stream);
  stream->limit_read_until(due);
  ErrorCode error;
  Handshake step = link.shake_hands();
  while (!error && (step == Handshake::wants_read || step == Handshake::wants_write)) {
    error = step == Handshake::wants_read ? co_await stream->wait_readable()
                                          : co_await stream->wait_writable(time.each());
    if (!error) step = link.shake_hands();
  }
  target.end();
  stream->unlimit_read();
  if (!error && step == Handshake::done) {
    dialer.selected_http2 = link.selected_http2();
    co_return std::move(stream);
  }
  if (upstream.ticket != nullptr) upstream.ticket->newest.reset();
  if (cancel.stopped()) co_return Failed{Stage::tls, Cause::cancelled};
  if (stream->take_limit_hit()) {
    log_handshake_failure(dialer, upstream, of_parent,
                          "the handshake did not finish within connect_timeout or the deadline");
    co_return Failed{Stage::tls, Cause::connect_timeout};
  }
  Failed failed{Stage::tls, cause_of(error ? error : link.failure())};
  std::string words = error ? error.message() : link.words();
  if (failed.cause != Cause::tls_certificate_error) {
    failed = failure_of(link.refusal(), Stage::tls).value_or(failed);
    if (!failed.why.empty()) words.assign("TLS alert: ").append(failed.why);
    failed.of_parent = of_parent && failed.cause == Cause::tls_alert_received;
    // A server that does not speak HTTP/2 may send this alert instead of choosing no protocol (RFC 7301 3.2).
    if (protocol == Protocol::http2 && link.refusal().is_about_protocol) failed.cause = Cause::not_http2;
    if (failed.cause == Cause::tls_alert_received && !of_parent)
      words.append(". ").append(http::client_certificate_advice);
  }
  if (failed.cause == Cause::tls_certificate_error) {
    failed.why = link.why_unproved();
    failed.of_parent = of_parent;
    words.append(". ").append(of_parent ? http::parent_certificate_advice : http::certificate_advice);
  }
  log_handshake_failure(dialer, upstream, of_parent, words);
  co_return failed;
}

}  // namespace reprise::net
