// A certificate authority made at test time. It issues certificates, and revokes them in CRLs and OCSP
// responses.
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

/// A certificate and its private key.
struct TlsIdentity {
  Certificate certificate;
  PrivateKey key;
};

/// Validity of a CRL or an OCSP response, in seconds from now.
struct Timely {
  long since = -3600;
  long until = 3600;
};

/// The status of one certificate in an OCSP response.
struct OcspResponse {
  long serial;
  int status = V_OCSP_CERTSTATUS_REVOKED;
  Timely timely = {};
  const EVP_MD* hash = nullptr;  ///< hash that identifies the issuer; null: SHA-1, as most responders use
};

class TlsAuthority {
 public:
  explicit TlsAuthority(std::string_view name = "authority");
  /// Makes an intermediate CA whose certificate is issued by `issuer`.
  TlsAuthority(std::string_view name, const TlsAuthority& issuer, long serial);

  /// Issues a certificate for 127.0.0.1 and localhost. `usage` has the form of OpenSSL's extendedKeyUsage.
  TlsIdentity issue(long serial, const char* usage = "serverAuth") const;
  /// Returns an OCSP response in DER. The signer is the authority, or `responder` if given; the certificate
  /// of the responder is then included.
  std::string response(const std::vector<OcspResponse>& responses,
                       const TlsIdentity* responder = nullptr) const;
  /// Returns a CRL with these serial numbers, in PEM.
  std::string list(const std::vector<long>& serials, Timely timely = {}) const;
  /// Returns the authority's certificate in PEM.
  std::string pem() const;
  X509* certificate() const { return self_.certificate.get(); }

 private:
  void make(std::string_view name, const TlsAuthority& issuer, long serial);

  TlsIdentity self_;
};

}  // namespace reprise::play
