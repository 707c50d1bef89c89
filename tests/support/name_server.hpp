// A DNS server on loopback for one test program. Sends the responses that the test has set, over UDP and TCP.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace reprise::play {

/// The response to a query for a name. A query for IPv6 gets only the IPv6 addresses, and a query for IPv4
/// only the IPv4 addresses.
struct NameResponse {
  int code = 0;  ///< response code (RFC 1035 4.1.1); 2 is SERVFAIL, 3 is NXDOMAIN
  std::vector<std::string> addresses;
  std::uint32_t ttl = 300;
  bool silent = false;
  bool truncated = false;  ///< the response over UDP has only the TC flag; the response over TCP is complete
  std::string alias;       ///< target of a CNAME record, which then owns the addresses
  bool tcp_only = false;   ///< no response over UDP
  int ipv6_code = 0;       ///< if not 0: replaces `code` in responses to IPv6 queries
};

/// Serves on its own thread until it is destroyed. Responds to unknown names with NXDOMAIN.
class NameServer {
 public:
  NameServer();
  ~NameServer();
  NameServer(const NameServer&) = delete;
  NameServer& operator=(const NameServer&) = delete;

  /// Sets the responses to successive queries. The last one repeats.
  void set(const std::string& name, std::vector<NameResponse> responses);
  /// Counts the IPv4 queries for the name.
  int asked(const std::string& name);
  std::uint16_t port() const { return port_; }

 private:
  void serve();
  void serve_tcp();
  /// Returns the response; empty if no response is to be sent.
  std::string response_to(std::string_view question, bool is_udp);

  int udp_ = -1, tcp_ = -1, end_ = -1;
  std::uint16_t port_ = 0;
  std::mutex mutex_;
  std::map<std::string, std::vector<NameResponse>> script_;
  std::map<std::string, int> asked_;
  std::thread thread_;
};

}  // namespace reprise::play
