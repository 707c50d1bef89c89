// A certificate authority for listed hosts alone: it signs short-lived certificates for them, and who trusts
// it trusts it for nothing else.
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

/// A certificate for one host, and when another has to take its place.
struct Leaf {
  std::shared_ptr<const net::TlsServer> server;
  std::int64_t begins = 0;  ///< seconds since 1970: before, a clock that was put back finds it not valid yet
  std::int64_t renew_at = 0;  ///< the same

  bool is_good(std::int64_t now) const { return begins <= now && now < renew_at; }
};

/// ECDSA P-256. Immutable; any thread. Times are seconds since 1970.
class Authority {
 public:
  static constexpr std::int64_t lifetime = std::int64_t{365} * 24 * 3600;     ///< of its certificate
  static constexpr std::int64_t leaf_lifetime = std::int64_t{7} * 24 * 3600;  ///< at most

  /// Of a key and a certificate that belong together: whether they do, `trouble` does not ask.
  Authority(Certificate certificate, PrivateKey key);
  /// A new key.
  static PrivateKey make_key();
  /// Signed by that key, for these hosts and no others: a critical name constraint (RFC 5280 4.2.1.10) that
  /// permits each (`*.x` as `.x`) and excludes every IP address. Throws std::runtime_error.
  static Certificate certify(EVP_PKEY* key, const std::vector<policy::HostPattern>& hosts, std::int64_t now);

  X509* certificate() const { return certificate_.get(); }
  EVP_PKEY* key() const { return key_.get(); }
  /// PEM.
  std::string certificate_text() const;
  std::int64_t expires() const;
  /// What the certificate permits, as host patterns.
  std::vector<std::string> permitted() const;

  /// Why it must not be used at that time, whatever the hosts: it is no CA, has expired, is not constrained
  /// to names, or leaves addresses open. Empty: it may.
  std::string trouble(std::int64_t now) const;
  /// The first of the hosts that its constraint does not permit; empty: it permits all.
  std::string first_outside(const std::vector<policy::HostPattern>& hosts) const;

  /// With the one key of all leaves of this process. Throws std::runtime_error for what is no host name.
  Leaf issue(const std::string& name, std::int64_t now) const;

 private:
  Certificate certificate_;
  PrivateKey key_;
  PrivateKey leaf_key_;
};

}  // namespace reprise::server
