// Resolves names by the C library (getaddrinfo): numeric addresses at once, names on a few separate threads,
// because the call blocks.
#pragma once

#include <functional>
#include <memory>

#include "proxy/net/resolve/resolver.hpp"

namespace reprise::net {

/// Returns all addresses of both families for stream sockets, in the library's order. Does not use
/// AI_ADDRCONFIG, which hides names of /etc/hosts on a host with only loopback interfaces. May block. If
/// `numbers_only` is set, never blocks and returns a result only for a numeric address. Any spelling counts,
/// such as 2852039166 or 0251.0376.0251.0376 (row H2).
Found ask_library(const std::string& name, bool numbers_only);

/// Runs questions that may hang, at most 4 at a time; further questions wait. Thread-safe.
class LibraryNames {
 public:
  static constexpr unsigned most_threads = 4;
  static constexpr std::size_t most_waiting = 1024;
  using Ask = std::function<Found(const std::string& name)>;

  /// `ask` may block. Tests pass their own function.
  explicit LibraryNames(Ask ask = [](const std::string& name) { return ask_library(name, false); });
  /// Abandons pending questions. A hanging thread ends when its question ends, or with the process.
  ~LibraryNames();
  LibraryNames(const LibraryNames&) = delete;
  LibraryNames& operator=(const LibraryNames&) = delete;

  /// Queues a question, and starts a thread if one is needed. The question fails at once if too many
  /// questions are waiting. The question is skipped if no caller waits for it any more when its turn comes.
  void resolve(Resolver::Question);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace reprise::net
