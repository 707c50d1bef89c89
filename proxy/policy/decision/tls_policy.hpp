// How a route's upstreams are reached over TLS: whether every request is, whom to trust, and who we are.
#pragma once

#include <optional>
#include <string>

namespace reprise::policy {

/// `tls` of a route. The files are also those of https:// targets, which are never sent in clear text.
struct TlsPolicy {
  bool originate = false;                  ///< http:// targets go over TLS too
  std::optional<std::string> ca_file;      ///< the only certificates to trust; absent: the system's
  std::optional<std::string> certificate;  ///< what we show who asks, with `key`; absent: nothing
  std::optional<std::string> key;
  std::optional<std::string> key_passphrase = {};  ///< of an encrypted key
  std::optional<std::string> server_name = {};     ///< who the upstream has to be; absent: who is dialled

  bool operator==(const TlsPolicy&) const = default;
};

}  // namespace reprise::policy
