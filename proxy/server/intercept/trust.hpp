// The files that an application trusts instead of the system's roots: those roots plus the local authority.
#pragma once

#include <string>
#include <vector>

#include "proxy/server/intercept/authority.hpp"

namespace reprise::server {

/// Returns the roots that reprise trusts by default, without duplicates: those of SSL_CERT_FILE and
/// SSL_CERT_DIR, or of OpenSSL's default locations.
std::vector<Certificate> system_roots();

/// Certificates of several files as one text.
struct JoinedCertificates {
  std::string text;                 ///< PEM without duplicates
  std::vector<std::string> unread;  ///< locations without any certificate
};
/// Joins the file that OpenSSL reads by default (SSL_CERT_FILE, or its default location) and `places`: files,
/// or folders of files with OpenSSL's hashed names.
JoinedCertificates join_certificates(const std::vector<std::string>& places);

/// Returns the roots and then the authority's certificate, as PEM.
std::string bundle_text(const std::vector<Certificate>& roots, const Authority&);

/// Java's default password for truststores.
inline constexpr const char* truststore_password = "changeit";
/// Returns the roots and the authority's certificate as PKCS#12, each marked as trusted for Java.
std::string truststore_bytes(const std::vector<Certificate>& roots, const Authority&);
/// Returns the path of the truststore beside that bundle: `bundle.p12` for `bundle.pem`.
std::string truststore_file(const std::string& bundle);

/// Writes the bundle and the truststore, unless both are up to date. Throws std::runtime_error.
void write_trust(const std::string& bundle, const Authority&);

}  // namespace reprise::server
