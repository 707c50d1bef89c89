// Whether a certificate was revoked since it was issued: by lists beside the trusted certificates, and by
// what the upstream brings along in its handshake.
#pragma once

#include <openssl/types.h>

#include <span>

struct stack_st_X509;

namespace reprise::net {

/// True if something of that kind was loaded as trusted: X509_LU_X509, a certificate, or X509_LU_CRL, a list.
bool holds(SSL_CTX* settings, int kind);

/// Makes handshakes under these settings fail with X509_V_ERR_CERT_REVOKED where a certificate was revoked.
/// To be called once the trusted certificates are loaded.
///
/// Lists (CRLs, RFC 5280) are those loaded together with the certificates. A list judges every certificate
/// that its issuer signed, a list that is out of date fails them all; where an issuer has no list, nobody is
/// asked for one. Responses (OCSP, RFC 6960) are those that the upstream staples (RFC 6066 8): one that says
/// "revoked" counts, any other, and none, leaves the certificate as it is.
void refuse_revoked(SSL_CTX* settings);

/// True if `response` (DER) says, signed by the issuer or whom it lets answer, and not out of date, that the
/// first of `chain` was revoked. `chain`: a verified one, the upstream's own certificate first. Leaves
/// OpenSSL's queue of errors as it was.
bool says_revoked(std::span<const unsigned char> response, stack_st_X509* chain, X509_STORE* trusted);

}  // namespace reprise::net
