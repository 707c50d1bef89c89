// A certificate authority made at test time: it issues certificates, and says by lists and by OCSP responses
// which of them it revoked.
#pragma once

#include <openssl/ocsp.h>
#include <openssl/types.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace reprise::play {

struct FreeTlsParts {
  void operator()(X509*) const;
  void operator()(EVP_PKEY*) const;
};
using Certificate = std::unique_ptr<X509, FreeTlsParts>;
using PrivateKey = std::unique_ptr<EVP_PKEY, FreeTlsParts>;

/// Somebody with a certificate.
struct TlsIdentity {
  Certificate certificate;
  PrivateKey key;
};

/// From when to when a list or a response holds, in seconds from now.
struct Timely {
  long since = -3600;
  long until = 3600;
};

/// What an OCSP response says of one certificate.
struct OcspResponse {
  long serial;
  int status = V_OCSP_CERTSTATUS_REVOKED;
  Timely timely = {};
  const EVP_MD* hash = nullptr;  ///< by which the issuer is named; null: SHA-1, as most responders do
};

class TlsAuthority {
 public:
  explicit TlsAuthority(std::string_view name = "authority");
  /// One that another vouches for.
  TlsAuthority(std::string_view name, const TlsAuthority& issuer, long serial);

  /// For 127.0.0.1 and localhost; `usage` as in openssl's extendedKeyUsage.
  TlsIdentity issue(long serial, const char* usage = "serverAuth") const;
  /// DER, signed by the authority, or by `responder`, whose certificate comes with it.
  std::string response(const std::vector<OcspResponse>& responses,
                       const TlsIdentity* responder = nullptr) const;
  /// A list of what is revoked, PEM.
  std::string list(const std::vector<long>& serials, Timely timely = {}) const;
  /// Its certificate, PEM.
  std::string pem() const;
  X509* certificate() const { return self_.certificate.get(); }

 private:
  void make(std::string_view name, const TlsAuthority& issuer, long serial);

  TlsIdentity self_;
};

}  // namespace reprise::play
