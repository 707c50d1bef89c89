// A request for a byte stream, by CONNECT, by SOCKS or redirected here: what was asked for, and how far it
// has come.
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

/// How the client of a byte stream is spoken to: in the protocol by which it asked for the stream.
class StreamProtocol {
 public:
  /// Appends what tells the client that its stream is open; nothing where it waits for no word. `own_fields`:
  /// header lines of ours, for a protocol that has some.
  virtual void append_opened(std::string_view own_fields, std::string& out) const = 0;
  /// Appends what tells the client that no stream can be opened, and why. False: it reads an HTTP response.
  virtual bool append_failed(policy::Cause, std::string& out) const = 0;
  /// False where the client has named no host: its connection was redirected here, and only its server name
  /// can tell for whom it is.
  virtual bool names_host() const = 0;

 protected:
  ~StreamProtocol() = default;
};

/// How far a byte stream has come with its client.
enum class TunnelProgress : std::uint8_t {
  asked,       ///< the client waits for a word
  opened,      ///< it has been told that the tunnel is open, or need not be
  hello_held,  ///< what it has sent since is one ClientHello, in `early`, which may be sent again
};

/// The client's ClientHello, where it was read.
struct AskedTls {
  std::string server_name;  ///< SNI; empty where there is none
  telemetry::Interception interception;
};

/// What was asked for stays as it is, except that a redirected connection gets the host of its ClientHello.
struct TunnelRequest {
  TunnelRequest(const StreamProtocol& protocol, std::string host, std::uint16_t port, std::string authority)
      : protocol(&protocol), host(std::move(host)), port(port), authority(std::move(authority)) {}

  const StreamProtocol* protocol;
  std::string host;  ///< without port or brackets
  std::uint16_t port;
  std::string authority;  ///< as the client wrote it
  TunnelProgress progress = TunnelProgress::asked;
  http::FirstWords words = http::FirstWords::more;  ///< what the stream carries, once it is open
  std::optional<AskedTls> tls;                      ///< only for a stream of TLS
  net::Buffer early;              ///< what the client has sent so far, and nobody has passed on
  std::uint64_t hello_bytes = 0;  ///< of its ClientHello that the upstream has answered

  /// True if its requests are served one by one.
  bool carries_requests() const {
    return words == http::FirstWords::http ||
           (tls && tls->interception == telemetry::Interception::intercepted);
  }
  /// True if the client did not finish its ClientHello: nothing can be done for it.
  bool is_over() const {
    return tls && (tls->interception == telemetry::Interception::handshake_failed ||
                   tls->interception == telemetry::Interception::handshake_timeout);
  }
};

}  // namespace reprise::forward
