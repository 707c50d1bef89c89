// How TLS is used with a route's upstreams: when it is used, which certificates are trusted, and which client
// certificate is presented.
#pragma once

#include <optional>
#include <string>

namespace reprise::policy {

/// The `tls` key of a route. The files that it names also apply to requests for https:// targets. Such
/// requests are never sent in clear text.
struct TlsPolicy {
  bool originate = false;                  ///< http:// targets go over TLS too
  std::optional<std::string> ca_file;      ///< file of the only certificates to trust; absent: the system's
  std::optional<std::string> certificate;  ///< client certificate, if the upstream requests one; absent: none
  std::optional<std::string> key;
  std::optional<std::string> key_passphrase = {};  ///< passphrase of an encrypted key
  /// Name that the upstream's certificate must prove; absent: the dialled name.
  std::optional<std::string> server_name = {};

  bool operator==(const TlsPolicy&) const = default;
};

}  // namespace reprise::policy
