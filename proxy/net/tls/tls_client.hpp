// TLS settings ready for use: one set of trusted certificates and our own, loaded once and shared by every
// connection that is made under them.
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

/// A file of a route, or of the parent proxy, cannot be loaded. `what()` names it, the key, the file, and
/// what is wrong with it.
class TlsSettingsError : public std::runtime_error {
 public:
  TlsSettingsError(const policy::Route& route, const std::string& why);
  /// Of the parent proxy.
  explicit TlsSettingsError(const std::string& why) : std::runtime_error(why) {}
  /// The route's line in the configuration; 0: built-in.
  std::size_t line() const { return line_; }

 private:
  std::size_t line_ = 0;
};

struct FreeTls {
  void operator()(SSL_CTX*) const;
  void operator()(ssl_session_st*) const;
};

/// The newest session with one upstream; a fresh connection resumes it. Used on one thread.
struct TlsTicket {
  std::unique_ptr<ssl_session_st, FreeTls> newest;
};

/// True if both policies read the same files, with the same passphrase: one TlsClient does for both.
bool same_files(const policy::TlsPolicy&, const policy::TlsPolicy&);

/// Immutable; any thread. TLS 1.2 and later, the other side always
/// verified, ALPN http/1.1, no early data, no renegotiation.
class TlsClient : public std::enable_shared_from_this<TlsClient> {
 public:
  /// Throws std::runtime_error where a file cannot be loaded.
  TlsClient(const policy::TlsPolicy&, std::size_t number);

  SSL_CTX* settings() const { return settings_.get(); }
  /// When the client certificate ends, in seconds since 1970; absent: there is none.
  std::optional<std::int64_t> certificate_expires() const;
  /// Its own among all of a process.
  std::size_t number() const { return number_; }

 private:
  std::unique_ptr<SSL_CTX, FreeTls> settings_;
  std::size_t number_;
};

/// One client for each distinct set of files that routes name (where none is named, of the system's roots),
/// and one of its own for the parent proxy, whose authorities vouch for nobody else.
class TlsClients {
 public:
  /// `parent`: how a parent proxy over TLS is verified; null: there is none. `before`: those of the
  /// configuration before this one; a client whose files hold what they held then is taken over, and with it
  /// its connections. Throws TlsSettingsError.
  explicit TlsClients(const policy::RouteTable&, const policy::TlsPolicy* parent = nullptr,
                      const TlsClients* before = nullptr);
  const TlsClient& of(std::size_t route) const { return *by_route_[route]; }
  /// The file of each client certificate, and when the certificate ends, in seconds since 1970.
  std::vector<std::pair<std::string, std::int64_t>> certificate_ends() const;
  /// Null where there is none.
  const TlsClient* parent() const { return parents_.empty() ? nullptr : parents_.front().client.get(); }

 private:
  /// A client, and what it was made of.
  struct Made {
    policy::TlsPolicy policy;
    std::string held;  ///< what its files held
    std::shared_ptr<const TlsClient> client;
  };

  Made make(const policy::TlsPolicy&, const std::vector<Made>& before);

  std::vector<Made> clients_;
  std::vector<const TlsClient*> by_route_;
  std::vector<Made> parents_;  ///< one or none
  std::size_t made_ = 0;       ///< by these and by all before them
};

}  // namespace reprise::net
