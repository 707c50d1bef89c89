// What sessions ask of whoever ends clients' TLS: for which hosts, and with what certificate.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "proxy/net/io/stream.hpp"
#include "proxy/policy/decision/route.hpp"

namespace reprise::net {

/// Thread-safe; outlives every session.
class ClientTls {
 public:
  /// Makes what carries a client's bytes the server's side of TLS over it; `before`: what was read already.
  using Accept = std::function<std::unique_ptr<SecureLink>(Carrier, std::string before)>;

  virtual ~ClientTls() = default;

  /// Only these are intercepted: exact names and `*.suffix`.
  virtual const std::vector<policy::HostPattern>& hosts() const = 0;
  /// The certificate for that host name, a listed one. Resumes on the caller's executor. Empty where none can
  /// be made: `why` says so.
  virtual Task<Accept> certificate_for(std::string name, asio::any_io_executor, std::string& why) = 0;
};

}  // namespace reprise::net
