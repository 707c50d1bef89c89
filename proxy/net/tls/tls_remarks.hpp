// What the other side of a TLS connection says beside the data: its fatal alert, and a handshake that it asks
// for again.
#pragma once

#include <openssl/types.h>

#include "proxy/net/io/link.hpp"

namespace reprise::net {

/// What one connection has recorded so far.
struct TlsRemarks {
  int alert = -1;                        ///< its fatal alert (RFC 8446 6); -1: none
  bool asked_for_certificate = false;    ///< of this side
  bool asked_for_renegotiation = false;  ///< reprise never renegotiates
};

/// Records from now on what the other side says. Precondition: `remarks` outlives the connection.
void note_remarks(SSL* connection, TlsRemarks& remarks);
/// Makes connections under these settings record that the other side asked for a certificate.
void note_certificate_requests(SSL_CTX* settings);

/// Returns why the other side ended TLS. An alert about a certificate is for good; so is a failed handshake
/// after the other side asked for a certificate.
TlsRefusal refusal_in(const TlsRemarks&);

}  // namespace reprise::net
