// The interface by which sessions terminate a client's TLS: the intercepted hosts and their certificates.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "proxy/net/io/stream.hpp"
#include "proxy/net/tls/tls_demands.hpp"
#include "proxy/policy/decision/route.hpp"

namespace reprise::net {

/// One object for all sessions. Thread-safe; outlives every session.
class ClientTls {
 public:
  /// Makes the server's side of TLS over a client's connection. `before`: bytes that were already read from
  /// the client. `offered`: the versions of HTTP that the client may choose from: `http1` or `either`.
  using Accept = std::function<std::unique_ptr<SecureLink>(Carrier, std::string before, Protocol offered)>;

  virtual ~ClientTls() = default;

  /// Returns the hosts that are intercepted: exact names and `*.suffix`.
  virtual const std::vector<policy::HostPattern>& hosts() const = 0;
  /// Returns the certificate for a host name that matches `hosts()`. Resumes on the caller's executor. If no
  /// certificate can be made, the result is empty and `why` is set.
  virtual Task<Accept> certificate_for(std::string name, asio::any_io_executor, std::string& why) = 0;
};

}  // namespace reprise::net
