// What the other side of a TLS connection says beside the data: its fatal alert, and a handshake that it asks
// for again.
#pragma once

#include <openssl/types.h>

#include "proxy/io/link.hpp"

namespace reprise::net {

/// Of one connection, as far as it has come.
struct TlsRemarks {
  int alert = -1;                        ///< its fatal alert (RFC 8446 6); -1: none
  bool asked_for_certificate = false;    ///< of this side
  bool asked_for_renegotiation = false;  ///< which is never done
};

/// From now on `remarks`, which outlives the connection, is kept up.
void note_remarks(SSL* connection, TlsRemarks& remarks);
/// A certificate is asked for by settings that have to tell `note_remarks` of it.
void note_certificate_requests(SSL_CTX* settings);

/// Final are the alerts about certificates, and a failed handshake after this side was asked for one.
TlsRefusal refusal_in(const TlsRemarks&);

}  // namespace reprise::net
