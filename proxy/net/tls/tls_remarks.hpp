// Records what the other side of a TLS connection sends besides data: its fatal alert, and requests for a
// certificate or a renegotiation.
#pragma once

#include <openssl/types.h>

#include "proxy/net/io/link.hpp"

namespace reprise::net {

/// Observations about one TLS connection so far.
struct TlsRemarks {
  int alert = -1;  ///< number of the other side's fatal alert (RFC 8446 6); -1 if there was none
  bool asked_for_certificate = false;  ///< the other side requested a client certificate
  bool asked_for_renegotiation =
      false;  ///< the other side requested a renegotiation, which reprise never does
};

/// Starts recording in `remarks`. Precondition: `remarks` outlives the connection.
void note_remarks(SSL* connection, TlsRemarks& remarks);
/// Makes all connections that use `settings` record requests for a client certificate.
void note_certificate_requests(SSL_CTX* settings);

/// Returns why the other side ended TLS. An alert about a certificate is permanent. A failed handshake is
/// permanent too if the other side had requested a client certificate.
TlsRefusal refusal_in(const TlsRemarks&);

}  // namespace reprise::net
