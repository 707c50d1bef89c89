// A request for a byte stream (CONNECT, SOCKS or a redirected connection) and its progress.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "proxy/http/message/first_bytes.hpp"
#include "proxy/net/io/block.hpp"
#include "proxy/policy/decision/outcome.hpp"
#include "proxy/telemetry/metrics/metrics.hpp"

namespace reprise::forward {

/// Formats replies in the protocol in which the client asked for the byte stream.
class StreamProtocol {
 public:
  /// Appends the reply which reports that the stream is open. Appends nothing if the protocol has no such
  /// reply. `own_fields`: header lines of this proxy, which only HTTP replies contain.
  virtual void append_opened(std::string_view own_fields, std::string& out) const = 0;
  /// Appends the reply which reports that no stream can be opened, with the cause. Returns false, and appends
  /// nothing, if the client expects an HTTP response.
  virtual bool append_failed(policy::Cause, std::string& out) const = 0;
  /// Returns false if the client named no host, because its connection was redirected to this proxy. The host
  /// is then known only from the server name (SNI).
  virtual bool names_host() const = 0;

 protected:
  ~StreamProtocol() = default;
};

/// The progress of a byte stream on the client's side.
enum class TunnelProgress : std::uint8_t {
  asked,   ///< the client waits for the reply
  opened,  ///< the client knows that the stream is open, or expects no reply
  /// The client knows that the stream is open, and has sent exactly one ClientHello. The ClientHello is in
  /// `early` and may be sent again.
  hello_held,
};

/// The contents of the client's ClientHello.
struct SniffedTls {
  std::string server_name;  ///< SNI; empty if absent
  telemetry::Interception interception;
};

/// A request for a byte stream. The request does not change, except that a redirected connection gets the
/// host of its ClientHello.
struct TunnelRequest {
  TunnelRequest(const StreamProtocol& spoken, std::string wanted_host, std::uint16_t wanted_port,
                std::string as_written)
      : protocol(&spoken),
        host(std::move(wanted_host)),
        port(wanted_port),
        authority(std::move(as_written)) {}

  const StreamProtocol* protocol;
  std::string host;  ///< without port and brackets
  std::uint16_t port;
  std::string authority;  ///< as the client wrote it
  TunnelProgress progress = TunnelProgress::asked;
  http::DetectedProtocol detected = http::DetectedProtocol::more;  ///< protocol of the open stream
  std::optional<SniffedTls> tls;                                   ///< set only if the stream carries TLS
  bool reads_http2 = false;       ///< HTTP/2 from the client is read, and not only passed through
  net::Buffer early;              ///< bytes from the client that were not passed on yet
  std::uint64_t hello_bytes = 0;  ///< size of the ClientHello that the upstream has responded to

  /// Returns true if the requests inside the stream are served one by one.
  bool carries_requests() const {
    return detected == http::DetectedProtocol::http ||
           (detected == http::DetectedProtocol::http2 && reads_http2) ||
           (tls && tls->interception == telemetry::Interception::intercepted);
  }
  /// Returns true if the client did not complete its TLS handshake, so that nothing can be served.
  bool is_over() const {
    return tls && (tls->interception == telemetry::Interception::handshake_failed ||
                   tls->interception == telemetry::Interception::handshake_timeout);
  }
};

}  // namespace reprise::forward
