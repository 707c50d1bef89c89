// Detects revoked certificates, by CRLs beside the trusted certificates and by OCSP responses that the
// upstream staples.
#pragma once

#include <openssl/types.h>

#include <span>

struct stack_st_X509;

namespace reprise::net {

/// Returns true if an object of that kind was loaded as trusted. `kind`: X509_LU_X509 for a certificate,
/// X509_LU_CRL for a CRL.
bool holds(SSL_CTX* settings, int kind);

/// Makes handshakes fail with X509_V_ERR_CERT_REVOKED if a certificate is revoked. Call after the trusted
/// certificates are loaded.
/// CRLs (RFC 5280) are those in the files of the trusted certificates. A CRL applies to every certificate
/// that its issuer signed; an expired CRL fails all of them. If an issuer has no CRL, its certificates are
/// accepted; no CRL is downloaded.
/// OCSP responses (RFC 6960) are those that the upstream staples (RFC 6066 8). Only the status "revoked" has
/// an effect. With any other response, or without a response, the certificate stays valid.
void refuse_revoked(SSL_CTX* settings);

/// Returns true if `response` (OCSP, in DER) reports the first certificate of `chain` as revoked. The
/// response must be current, and signed by the issuer or by a responder that the issuer authorised. `chain`:
/// a verified chain, the upstream's own certificate first. Leaves OpenSSL's error queue unchanged.
bool reports_revoked(std::span<const unsigned char> response, stack_st_X509* chain, X509_STORE* trusted);

}  // namespace reprise::net
