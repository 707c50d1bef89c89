// Names as the C library resolves them (getaddrinfo): numbers at once, anything else on a few threads of its
// own, because it blocks.
#pragma once

#include <functional>
#include <memory>

#include "proxy/net/resolve/resolver.hpp"

namespace reprise::net {

/// All addresses of both families, stream sockets, in the library's order; without AI_ADDRCONFIG, which hides
/// names of /etc/hosts on a host that has loopback interfaces alone. Blocks, unless `numbers_only`: then only
/// what is an address in some spelling has any (2852039166 and 0251.0376.0251.0376 too: row H2).
Found ask_library(const std::string& name, bool numbers_only);

/// Questions that may hang: at most 4 at a time, the others wait for their turn. Thread-safe.
class LibraryNames {
 public:
  static constexpr unsigned most_threads = 4;
  static constexpr std::size_t most_waiting = 1024;
  using Ask = std::function<Found(const std::string& name)>;

  /// `ask` blocks; tests pass their own.
  explicit LibraryNames(Ask ask = [](const std::string& name) { return ask_library(name, false); });
  /// Abandons those that hang: their threads end when they do, or with the process.
  ~LibraryNames();
  LibraryNames(const LibraryNames&) = delete;
  LibraryNames& operator=(const LibraryNames&) = delete;

  /// Starts threads as they are needed. A question that finds too many before it fails at once; one that
  /// nobody waits for any more when its turn comes is passed over.
  void resolve(Resolver::Question);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace reprise::net
