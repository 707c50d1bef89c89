#include "proxy/net/io/failure.hpp"

#include <boost/asio/error.hpp>

#include "proxy/net/io/http2_error.hpp"
#include "proxy/net/io/tls_error.hpp"

namespace reprise::net {

using policy::Cause;

namespace {

Cause cause_of_stream(const ErrorCode& error) {
  switch (static_cast<Http2Error>(error.value())) {
    case Http2Error::reset: return Cause::stream_reset;
    case Http2Error::refused: return Cause::stream_refused;
    case Http2Error::needs_http1: return Cause::http_1_1_required;
    case Http2Error::above_last_id:
    case Http2Error::no_room: return Cause::goaway;
    case Http2Error::malformed: return Cause::malformed_response;
    case Http2Error::not_http2: break;
  }
  return Cause::not_http2;
}

}  // namespace

Cause cause_of(const ErrorCode& error) {
  if (error == asio::error::eof || error == TlsError::no_close_notify) return Cause::closed;
  if (error == TlsError::protocol) return Cause::tls_protocol_error;
  if (error == TlsError::certificate) return Cause::tls_certificate_error;
  if (error == asio::error::operation_aborted) return Cause::cancelled;
  if (error.category() == ErrorCode(Http2Error::reset).category()) return cause_of_stream(error);
  if (error == asio::error::timed_out || error == asio::error::host_unreachable ||
      error == asio::error::network_unreachable) {
    return Cause::keepalive_lost;
  }
  return Cause::reset;
}

std::optional<policy::Failed> failure_of(const TlsRefusal& refusal, policy::Stage stage) {
  if (refusal.words.empty()) return std::nullopt;
  policy::Failed failed{stage, Cause::tls_protocol_error};
  if (refusal.is_permanent) failed = {policy::Stage::tls, Cause::tls_alert_received};
  failed.why = refusal.words;
  return failed;
}

Cause cause_of(http::Rejection rejection) {
  const bool is_large =
      rejection == http::Rejection::header_too_large || rejection == http::Rejection::too_many_fields;
  return is_large ? Cause::header_too_large : Cause::malformed_response;
}

Cause cause_of(BodyStep step) {
  if (step == BodyStep::failed) return Cause::reset;
  return step == BodyStep::malformed ? Cause::malformed_response : Cause::truncated;
}

Cause cause_of_dial(const ErrorCode& error) {
  if (error == asio::error::connection_refused) return Cause::refused;
  if (error == asio::error::timed_out) return Cause::connect_timeout;
  if (error == asio::error::connection_reset) return Cause::reset;
  if (error == asio::error::operation_aborted) return Cause::cancelled;
  if (error == asio::error::no_descriptors || error == boost::system::errc::too_many_files_open_in_system) {
    return Cause::no_descriptor;
  }
  if (error == boost::system::errc::address_not_available) return Cause::no_local_port;
  return Cause::unreachable;
}

}  // namespace reprise::net
