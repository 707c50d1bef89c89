#include "proxy/net/io/failure.hpp"

#include <boost/asio/error.hpp>

#include "proxy/net/io/tls_error.hpp"

namespace reprise::net {

using policy::Cause;

Cause cause_of(const ErrorCode& error) {
  if (error == asio::error::eof || error == TlsError::no_close_notify) return Cause::closed;
  if (error == TlsError::protocol) return Cause::tls_protocol_error;
  if (error == TlsError::certificate) return Cause::tls_certificate_error;
  if (error == asio::error::operation_aborted) return Cause::cancelled;
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
