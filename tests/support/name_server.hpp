// A name server on loopback for one test program: answers
// each name as told, over UDP, and over TCP where told.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace reprise::play {

/// What is said to a question; one for an IPv6 address gets the IPv6 addresses.
struct NameResponse {
  int code = 0;  ///< RFC 1035 4.1.1: 2 SERVFAIL, 3 NXDOMAIN
  std::vector<std::string> addresses;
  std::uint32_t ttl = 300;
  bool silent = false;
  bool truncated = false;  ///< over UDP: nothing but the flag; whole over TCP
  std::string alias;       ///< a CNAME: then the addresses are its
  bool tcp_only = false;   ///< over UDP: silence
  int ipv6_code = 0;       ///< in place of `code`, to a question for an IPv6 address
};

/// Serves on a thread of its own until it is gone. What it does not know has no such name.
class NameServer {
 public:
  NameServer();
  ~NameServer();
  NameServer(const NameServer&) = delete;
  NameServer& operator=(const NameServer&) = delete;

  /// The responses in turn; the last one is repeated.
  void set(const std::string& name, std::vector<NameResponse> responses);
  /// How often its IPv4 addresses were asked for.
  int asked(const std::string& name);
  std::uint16_t port() const { return port_; }

 private:
  void serve();
  void serve_tcp();
  /// Empty: silence.
  std::string response_to(std::string_view question, bool is_udp);

  int udp_ = -1, tcp_ = -1, end_ = -1;
  std::uint16_t port_ = 0;
  std::mutex mutex_;
  std::map<std::string, std::vector<NameResponse>> script_;
  std::map<std::string, int> asked_;
  std::thread thread_;
};

}  // namespace reprise::play
