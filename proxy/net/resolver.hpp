// Names to addresses without stalls: getaddrinfo on its own threads, one look-up per name at a time, a small
// cache.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <vector>

#include "proxy/net/stream.hpp"
#include "proxy/net/task.hpp"
#include "proxy/observe/metrics.hpp"

namespace reprise::net {

/// What a name resolves to. Shared, immutable.
struct Addresses {
  /// In the resolver's order, families by turns; at most 16 (row I13). Empty: the name does not resolve.
  std::vector<asio::ip::address> list;
};

/// One waiter: on one io thread, until the answer, its limit, or `cancel`.
class Lookup;

/// Shared by all io threads; thread-safe. A dead name costs its own waiters only, each until its own limit.
class Resolver {
 public:
  /// How a name is looked up: blocking, called on the resolver's threads. Tests pass their own.
  using Query = std::function<std::vector<asio::ip::address>(const std::string& name)>;

  struct Limits {
    unsigned threads = 4;      ///< 0: `answer_one` does their work
    std::size_t names = 1024;  ///< oldest out
    Duration positive = std::chrono::seconds(10);
    Duration negative = std::chrono::seconds(1);
  };

  Resolver(Query, const Limits&, observe::Metrics&);
  /// Abandons look-ups that are still blocked in the system's resolver.
  ~Resolver();
  Resolver(const Resolver&) = delete;
  Resolver& operator=(const Resolver&) = delete;

  /// `executor` is the caller's; the lookup is used on its thread only.
  std::shared_ptr<Lookup> start(const std::string& name, const asio::any_io_executor& executor);
  /// Answers the oldest question that no thread has taken, on this thread. False if there is none.
  bool answer_one();
  /// Questions that no thread has taken.
  std::size_t questions() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

class Lookup final : public Cancellable, public std::enable_shared_from_this<Lookup> {
 public:
  explicit Lookup(const asio::any_io_executor& executor) : timer_(executor) {}

  /// Null when the limit or a cancel came first.
  Task<std::shared_ptr<const Addresses>> wait(Duration limit);
  /// Called on any thread.
  void deliver(std::shared_ptr<const Addresses>);
  void cancel() override;

 private:
  friend class Resolver;

  Timer timer_;
  std::shared_ptr<const Addresses> answer_;
  bool cancelled_ = false;
};

/// getaddrinfo for both families, stream sockets.
std::vector<asio::ip::address> query_system(const std::string& name);

}  // namespace reprise::net
