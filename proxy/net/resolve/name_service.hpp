// Resolves names as this host is configured: /etc/hosts and DNS by c-ares on one thread, even if many lookups
// hang; other sources by the C library.
#pragma once

#include <chrono>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "proxy/net/resolve/dns_channel.hpp"
#include "proxy/net/resolve/library_names.hpp"
#include "proxy/net/resolve/name_sources.hpp"
#include "proxy/net/resolve/resolver.hpp"

namespace reprise::net {

/// Uses one thread of its own, which also reads resolv.conf and nsswitch.conf, so that no caller blocks. A
/// change of these files is detected within a second while names are looked up.
class NameService {
 public:
  /// Maximum number of questions per channel. Further questions use a new channel with its own sockets and
  /// ports.
  static constexpr std::size_t questions_of_a_channel = 64;
  /// Maximum number of channels. If there are more, the oldest channels are closed.
  static constexpr std::size_t most_channels = 64;

  /// Throws std::system_error if no descriptor or thread is available.
  explicit NameService(
      NameFiles files = {},
      LibraryNames::Ask library = [](const std::string& name) { return ask_library(name, false); });
  /// Abandons all pending questions.
  ~NameService();
  NameService(const NameService&) = delete;
  NameService& operator=(const NameService&) = delete;

  /// Starts a lookup. Thread-safe; does not block.
  void ask(Resolver::Question);
  /// Returns the query function for a Resolver. Precondition: the resolver is destroyed before this object.
  Resolver::Query query() {
    return [this](Resolver::Question question) { ask(std::move(question)); };
  }

 private:
  struct Search;
  struct Stamp {
    std::uint64_t device = 0, file = 0, size = 0;
    std::int64_t changed = 0;  ///< time of the last change, in nanoseconds of the wall clock
    bool operator==(const Stamp&) const = default;
  };

  static Stamp stamp_of(const std::string& path);
  void run();
  std::vector<Resolver::Question> wait();
  int quiet_milliseconds() const;
  void close_channels();
  void look_at_files();
  bool read_files();
  void begin(Resolver::Question);
  void go_on(const std::shared_ptr<Search>&);
  void ask_dns(const std::shared_ptr<Search>&);
  void take(const std::shared_ptr<Search>&, DnsChannel::End, const Found&);
  void end_unknown(const Search&);
  DnsChannel* channel();

  const NameFiles files_;
  LibraryNames library_;
  const int wake_;  ///< an eventfd

  std::mutex mutex_;
  std::vector<Resolver::Question> asked_;
  bool stopping_ = false;

  // These members are used on the service's own thread only.
  std::vector<pollfd> polled_;
  std::deque<std::unique_ptr<DnsChannel>> channels_;  ///< the last channel takes new questions
  std::unique_ptr<DnsChannel> hosts_;
  std::vector<Resolver::Question>
      again_;  ///< questions to ask again, because a file change closed their channel
  bool reloading_ = false;
  HostsLine sources_;
  LookupOptions lookup_options_;
  unsigned opened_ = 0;  ///< number of channels opened so far
  Stamp resolv_stamp_, sources_stamp_;
  Instant looked_at_{};
  std::thread thread_;
};

}  // namespace reprise::net
