// TLS settings for connections to upstreams: trusted certificates and the client certificate, loaded once and
// shared by all connections.
#pragma once

#include <openssl/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "proxy/policy/decision/route.hpp"

struct ssl_session_st;

namespace reprise::net {

/// Thrown if a file in the settings of a route or of the parent proxy cannot be loaded. `what()` names the
/// route, the configuration key and the file, and says what is wrong.
class TlsSettingsError : public std::runtime_error {
 public:
  TlsSettingsError(const policy::Route& route, const std::string& why);
  /// Makes the error for a file in the settings of the parent proxy, such as `parent.ca_file`.
  explicit TlsSettingsError(const std::string& why) : std::runtime_error(why) {}
  /// Returns the route's line in the configuration; 0 if the route is built-in.
  std::size_t line() const { return line_; }

 private:
  std::size_t line_ = 0;
};

struct FreeTls {
  void operator()(SSL_CTX*) const;
  void operator()(ssl_session_st*) const;
};

/// The newest session with one upstream, which the next fresh connection resumes. Used on one thread.
struct TlsTicket {
  std::unique_ptr<ssl_session_st, FreeTls> newest;
};

/// Returns true if both policies use the same files and passphrase. One TlsClient can then serve both
/// policies.
bool same_files(const policy::TlsPolicy&, const policy::TlsPolicy&);

/// Immutable; thread-safe. Accepts TLS 1.2 or later, always verifies the other side, offers ALPN http/1.1,
/// and uses no early data and no renegotiation.
class TlsClient : public std::enable_shared_from_this<TlsClient> {
 public:
  /// Throws std::runtime_error if a file cannot be loaded.
  TlsClient(const policy::TlsPolicy&, std::size_t number);

  SSL_CTX* settings() const { return settings_.get(); }
  /// Returns the time at which the client certificate expires, in seconds since 1970; no value if there is no
  /// client certificate.
  std::optional<std::int64_t> certificate_expires() const;
  /// Returns the number of this TlsClient, which is unique in the process.
  std::size_t number() const { return number_; }

 private:
  std::unique_ptr<SSL_CTX, FreeTls> settings_;
  std::size_t number_;
};

/// One TlsClient for each distinct set of files of the routes. A route that names no files uses the system's
/// roots. The parent proxy has a separate TlsClient, because its authorities are trusted for the parent only.
class TlsClients {
 public:
  /// `parent`: how to verify a parent proxy over TLS; null if there is none. `before`: the clients of the
  /// previous configuration. A client whose files have not changed is reused, together with its connections.
  /// Throws TlsSettingsError.
  explicit TlsClients(const policy::RouteTable&, const policy::TlsPolicy* parent = nullptr,
                      const TlsClients* before = nullptr);
  const TlsClient& of(std::size_t route) const { return *by_route_[route]; }
  /// Returns the file of each client certificate and its expiry, in seconds since 1970.
  std::vector<std::pair<std::string, std::int64_t>> certificate_ends() const;
  /// Returns the TlsClient for the parent proxy; null if no parent proxy is reached over TLS.
  const TlsClient* parent() const { return parents_.empty() ? nullptr : parents_.front().client.get(); }

 private:
  /// A TlsClient and the inputs from which it was made.
  struct Made {
    policy::TlsPolicy policy;
    std::string held;  ///< digest of the certificate, key and CA files
    std::shared_ptr<const TlsClient> client;
  };

  Made make(const policy::TlsPolicy&, const std::vector<Made>& before);

  std::vector<Made> clients_;
  std::vector<const TlsClient*> by_route_;
  std::vector<Made> parents_;  ///< one or none
  std::size_t made_ = 0;       ///< number of TlsClients made so far in the process
};

}  // namespace reprise::net
