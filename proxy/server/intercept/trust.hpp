// What an application trusts in place of the system's roots: these, and the local authority.
#pragma once

#include <string>
#include <vector>

#include "proxy/server/intercept/authority.hpp"

namespace reprise::server {

/// The roots that reprise itself trusts where a route names no others, each once: those of SSL_CERT_FILE and
/// SSL_CERT_DIR, or of OpenSSL's own places.
std::vector<Certificate> system_roots();

/// Certificates from several places, as one file.
struct JoinedCertificates {
  std::string text;                 ///< PEM, each certificate once
  std::vector<std::string> unread;  ///< the places in which no certificate was found
};
/// Joins the file that OpenSSL reads by default (SSL_CERT_FILE, or its own place) and `places`: files, or
/// folders whose files have the names that OpenSSL looks for.
JoinedCertificates join_certificates(const std::vector<std::string>& places);

/// PEM: the roots, then the authority's certificate.
std::string bundle_text(const std::vector<Certificate>& roots, const Authority&);

/// What Java is told to open it with.
inline constexpr const char* truststore_password = "changeit";
/// PKCS#12: the same, each marked as trusted in Java's way.
std::string truststore_bytes(const std::vector<Certificate>& roots, const Authority&);
/// Beside the bundle: `bundle.p12` for `bundle.pem`.
std::string truststore_file(const std::string& bundle);

/// Writes both where they are not as they have to be. Throws std::runtime_error.
void write_trust(const std::string& bundle, const Authority&);

}  // namespace reprise::server
