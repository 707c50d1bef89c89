// How a route's upstreams are reached over TLS: when TLS is used, which certificates are trusted, and which
// certificate we present.
#pragma once

#include <optional>
#include <string>

namespace reprise::policy {

/// The `tls` key of a route. The files also apply to https:// targets, which are never sent in clear text.
struct TlsPolicy {
  bool originate = false;                  ///< http:// targets go over TLS too
  std::optional<std::string> ca_file;      ///< the only certificates to trust; absent: those of the system
  std::optional<std::string> certificate;  ///< our certificate, presented if asked for; absent: none
  std::optional<std::string> key;
  std::optional<std::string> key_passphrase = {};  ///< passphrase of an encrypted key
  std::optional<std::string> server_name =
      {};  ///< name that the upstream must prove; absent: the dialled one

  bool operator==(const TlsPolicy&) const = default;
};

}  // namespace reprise::policy
