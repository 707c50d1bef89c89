// A certificate authority that is valid only for listed hosts and signs short-lived certificates for them.
#pragma once

#include <openssl/types.h>

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/net/tls/tls_server.hpp"
#include "proxy/policy/decision/route.hpp"

namespace reprise::server {

struct FreeCertificate {
  void operator()(X509*) const;
  void operator()(EVP_PKEY*) const;
};
using Certificate = std::unique_ptr<X509, FreeCertificate>;
using PrivateKey = std::unique_ptr<EVP_PKEY, FreeCertificate>;

/// A certificate for one host, and the time to replace it.
struct Leaf {
  std::shared_ptr<const net::TlsServer> server;
  /// Start of the validity, in seconds since 1970. If the current time is earlier, the clock was set back,
  /// and the certificate is not valid yet.
  std::int64_t begins = 0;
  std::int64_t renew_at = 0;  ///< seconds since 1970

  bool is_good(std::int64_t now) const { return begins <= now && now < renew_at; }
};

/// ECDSA P-256. Immutable; thread-safe. Times are seconds since 1970.
class Authority {
 public:
  /// Lifetime of the authority's certificate, in seconds.
  static constexpr std::int64_t lifetime = std::int64_t{365} * 24 * 3600;
  /// Maximum lifetime of a leaf, in seconds.
  static constexpr std::int64_t leaf_lifetime = std::int64_t{7} * 24 * 3600;

  /// Precondition: key and certificate match; neither the constructor nor `trouble` checks this.
  Authority(Certificate certificate, PrivateKey key);
  /// Makes a new key.
  static PrivateKey make_key();
  /// Returns a certificate signed by `key`, with a critical name constraint (RFC 5280 4.2.1.10). The
  /// constraint permits exactly the given `hosts` (`*.x` is written as `.x`) and excludes every IP address.
  /// Throws std::runtime_error.
  static Certificate certify(EVP_PKEY* key, const std::vector<policy::HostPattern>& hosts, std::int64_t now);

  X509* certificate() const { return certificate_.get(); }
  EVP_PKEY* key() const { return key_.get(); }
  /// Returns the certificate as PEM.
  std::string certificate_text() const;
  std::int64_t expires() const;
  /// Returns the permitted hosts as host patterns.
  std::vector<std::string> permitted() const;

  /// Returns why the certificate must not be used at the time `now`: it is no CA, has expired, is not
  /// constrained to names, or does not exclude IP addresses. Empty if it may be used.
  std::string trouble(std::int64_t now) const;
  /// Returns the first host that the name constraint does not permit; empty if it permits all.
  std::string first_outside(const std::vector<policy::HostPattern>& hosts) const;

  /// Signs a certificate for a host name. All leaves of this process share one key. Throws std::runtime_error
  /// if `name` is not a host name.
  Leaf issue(const std::string& name, std::int64_t now) const;

 private:
  Certificate certificate_;
  PrivateKey key_;
  PrivateKey leaf_key_;
};

}  // namespace reprise::server
