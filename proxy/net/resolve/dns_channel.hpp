// Sends questions to name servers, many at once, over sockets that the caller polls: an RAII wrapper of
// c-ares.
#pragma once

#include <poll.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "proxy/net/resolve/name_sources.hpp"
#include "proxy/net/resolve/resolver.hpp"

struct ares_addrinfo;
struct ares_channeldata;

namespace reprise::net {

/// Used on one thread. Reads resolv.conf once, in `open`.
class DnsChannel {
 public:
  /// Result of a question.
  enum class End : std::uint8_t {
    found,
    unknown,    ///< no address was found, or the servers failed; another source may know the name
    timed_out,  ///< no server responded in time
    failed,     ///< no server is reachable, or there was no descriptor or memory for the question
    abandoned,  ///< the channel was closed
  };
  /// Called with the result of a question. Must not close the channel.
  using Done = std::function<void(End, Found)>;

  /// Opens a channel. `source` is `f` for /etc/hosts or `b` for DNS. For each question, /etc/hosts is read
  /// before `ask` returns. Null if there is no descriptor or memory.
  static std::unique_ptr<DnsChannel> open(const NameFiles&, const LookupOptions&, char source);
  /// Ends every pending question as `abandoned`.
  ~DnsChannel();
  DnsChannel(const DnsChannel&) = delete;
  DnsChannel& operator=(const DnsChannel&) = delete;

  /// Asks for the name exactly as given. Asks for IPv4 and IPv6 addresses even if this host has only one of
  /// the families (no AI_ADDRCONFIG). With the option `no-aaaa`, asks only for IPv4. The addresses are in the
  /// order of RFC 6724.
  void ask(const std::string& name, Done done);
  std::size_t taken() const { return taken_; }          ///< number of questions so far
  std::size_t under_way() const { return under_way_; }  ///< number of pending questions
  const std::vector<std::string>& domains() const { return domains_; }
  int ndots() const { return ndots_; }

  void add_sockets_to(std::vector<pollfd>&) const;
  /// Returns the time after which `turn` must be called even if no socket is ready; no value if only a ready
  /// socket requires a call.
  std::optional<std::chrono::milliseconds> quiet() const;
  /// Handles those ready sockets that belong to this channel, and timeouts that have expired.
  void turn(const std::vector<pollfd>& ready);

 private:
  struct Asked;

  DnsChannel() = default;
  bool init(const NameFiles&, const LookupOptions&, char source);
  void read_search_list();
  static void watch_socket(void* self, int socket, int reads, int writes);
  static void take_response(void* asked, int status, int timeouts, ares_addrinfo* response);

  ares_channeldata* channel_ = nullptr;
  std::vector<pollfd> sockets_;
  std::vector<std::string> domains_;
  int ndots_ = 1;
  bool has_ttl_ = true;
  bool ipv4_only_ = false;
  std::size_t taken_ = 0;
  std::size_t under_way_ = 0;
};

}  // namespace reprise::net
