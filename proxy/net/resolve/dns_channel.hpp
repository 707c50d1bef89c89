// Questions to name servers, many at once, over sockets that
// a worker of one's own looks after: c-ares behind RAII.
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

/// Used on one thread. Reads resolv.conf once, when it is opened.
class DnsChannel {
 public:
  /// What became of a question.
  enum class End : std::uint8_t {
    found,
    unknown,    ///< the servers know no address of that name, or could not tell: another one may do better
    silent,     ///< no server has answered in time
    failed,     ///< no server can be reached, or there was no descriptor or memory for asking
    abandoned,  ///< the channel was closed
  };
  /// Must not close the channel.
  using Done = std::function<void(End, Found)>;

  /// `source`: f, /etc/hosts alone, which is read for each question, before `ask` returns; b, DNS alone. Null
  /// where there is no descriptor or memory.
  static std::unique_ptr<DnsChannel> open(const NameFiles&, const Patience&, char source);
  /// Every question under way ends as abandoned.
  ~DnsChannel();
  DnsChannel(const DnsChannel&) = delete;
  DnsChannel& operator=(const DnsChannel&) = delete;

  /// For addresses of both families (IPv4 alone where `no-aaaa` says so), whatever families this host has (no
  /// AI_ADDRCONFIG), in the order of
  /// RFC 6724. The name is asked for as it is.
  void ask(const std::string& name, Done done);
  std::size_t taken() const { return taken_; }          ///< questions so far
  std::size_t under_way() const { return under_way_; }  ///< that have not ended
  const std::vector<std::string>& domains() const { return domains_; }
  int ndots() const { return ndots_; }

  void add_sockets_to(std::vector<pollfd>&) const;
  /// For how long nothing happens unless a socket is ready; nothing: for ever.
  std::optional<std::chrono::milliseconds> quiet() const;
  /// Looks after those of them that are its own, and after limits that have passed.
  void turn(const std::vector<pollfd>& ready);

 private:
  struct Asked;

  DnsChannel() = default;
  bool init(const NameFiles&, const Patience&, char source);
  void read_search_list();
  static void watch_socket(void* self, int socket, int reads, int writes);
  static void take_answer(void* asked, int status, int timeouts, ares_addrinfo* answer);

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
