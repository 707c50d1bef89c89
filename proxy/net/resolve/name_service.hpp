// How this host's names are looked up: /etc/hosts and DNS by c-ares on one thread, however many names hang,
// and the C library for the sources that only it knows.
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

/// One thread, which nobody waits for: files are read on it too. Their changes are noticed within a second
/// while names are asked for.
class NameService {
 public:
  /// Questions that one channel takes before there is a new one, with sockets and ports of its own.
  static constexpr std::size_t questions_of_a_channel = 64;
  /// Channels at a time; beyond them those end that have hung for longest.
  static constexpr std::size_t most_channels = 64;

  /// Throws std::system_error where there is no descriptor or thread left.
  explicit NameService(
      NameFiles files = {},
      LibraryNames::Ask library = [](const std::string& name) { return ask_library(name, false); });
  /// Abandons what is being asked for.
  ~NameService();
  NameService(const NameService&) = delete;
  NameService& operator=(const NameService&) = delete;

  /// Thread-safe; does not block.
  void ask(Resolver::Question);
  /// What asks it, for a resolver that goes before it does.
  Resolver::Query query() {
    return [this](Resolver::Question question) { ask(std::move(question)); };
  }

 private:
  struct Search;
  struct Stamp {
    std::uint64_t device = 0, file = 0, size = 0;
    std::int64_t changed = 0;  ///< nanoseconds, by the wall's clock
    bool operator==(const Stamp&) const = default;
  };

  static Stamp stamp_of(const std::string& path);
  void run();
  std::vector<Resolver::Question> wait();
  int quiet_milliseconds() const;
  void let_go_of_channels();
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

  // Of the thread alone.
  std::vector<pollfd> polled_;
  std::deque<std::unique_ptr<DnsChannel>> channels_;  ///< the last one takes questions
  std::unique_ptr<DnsChannel> hosts_;
  std::vector<Resolver::Question> again_;  ///< whose channel was closed because files have changed
  bool reloading_ = false;
  HostsLine sources_;
  Patience patience_;
  unsigned opened_ = 0;  ///< channels so far
  Stamp resolv_stamp_, sources_stamp_;
  Instant looked_at_{};
  std::thread thread_;
};

}  // namespace reprise::net
