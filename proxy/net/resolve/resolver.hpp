// Resolves names to addresses. At most one lookup per name is pending at a time. Successful results are
// cached for seconds; failures are never cached.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "proxy/net/io/stream.hpp"
#include "proxy/net/io/task.hpp"
#include "proxy/telemetry/metrics/metrics.hpp"

namespace reprise::net {

/// The addresses of a name. Shared and immutable.
struct Addresses {
  /// In the resolver's order with alternating address families; at most 16 (row I13). Empty if the name does
  /// not resolve.
  std::vector<asio::ip::address> list;
  /// True if every source (/etc/hosts, name servers) reports that the name does not exist, and this process
  /// has never resolved the name. The name is then probably mistyped, and not that of a service that
  /// restarts. Only true if `list` is empty.
  bool never_existed = false;
};

/// Result of a lookup.
struct Found {
  std::vector<asio::ip::address> list;  ///< in order of preference; empty if the name does not resolve
  Duration keep = Duration::max();      ///< how long the result may be cached: its TTL, if it has one
  bool is_unknown = false;  ///< every source reports that the name does not exist (NXDOMAIN, EAI_NONAME)
};

/// One caller's wait for the result of a lookup, on one io thread. Ends with the result, at the caller's
/// limit, or when it is cancelled.
class Lookup;

/// Shared by all io threads; thread-safe. A name that does not resolve delays only the callers that wait for
/// that name, each until its own limit.
class Resolver {
 public:
  class Question;
  /// Starts the lookup of a name. Called on any thread, once per lookup. Must not block; may complete the
  /// question at once. Tests pass their own function.
  using Query = std::function<void(Question)>;

  struct Limits {
    /// Maximum number of names that are kept: names with cached addresses, and names that have resolved once.
    /// The name that was requested longest ago is evicted first. Names with a pending lookup are not counted,
    /// because such a lookup has a waiting caller or ends soon.
    std::size_t names = 1024;
    /// Longest time for which addresses are cached, whatever their TTL.
    Duration positive = std::chrono::seconds(10);
  };

  Resolver(Query, const Limits&, telemetry::Metrics&);
  /// Abandons pending lookups; their results are discarded.
  ~Resolver();
  Resolver(const Resolver&) = delete;
  Resolver& operator=(const Resolver&) = delete;

  /// Starts a lookup, or joins a pending lookup of the same name. `executor` belongs to the caller's thread.
  /// The result is used on that thread only.
  std::shared_ptr<Lookup> start(const std::string& name, const asio::any_io_executor& executor);
  /// Drops the cached addresses of a name because connecting to them failed. The next lookup of the name
  /// starts a new query (rows L1, L2).
  void evict(const std::string& name);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

/// One pending lookup, which must be completed once: on any thread, even after the resolver is destroyed.
/// Copies refer to the same lookup.
class Resolver::Question {
 public:
  const std::string& name() const { return name_; }
  void complete(const Found& found) const;
  /// Returns true if no caller waits any more. The lookup then ends without a result, and the next caller
  /// starts a new one.
  bool is_given_up() const;

 private:
  friend class Resolver;
  Question(std::weak_ptr<State> state, std::string name) : state_(std::move(state)), name_(std::move(name)) {}

  std::weak_ptr<State> state_;
  std::string name_;
};

class Lookup final : public Cancellable, public std::enable_shared_from_this<Lookup> {
 public:
  explicit Lookup(const asio::any_io_executor& executor) : timer_(executor) {}

  /// Waits for the result. Null if the limit is reached or the wait is cancelled first.
  Task<std::shared_ptr<const Addresses>> wait(Duration limit);
  /// Delivers the result. Thread-safe.
  void deliver(std::shared_ptr<const Addresses>);
  void cancel() override;

 private:
  friend class Resolver;

  Timer timer_;
  std::shared_ptr<const Addresses> result_;
  bool cancelled_ = false;
};

}  // namespace reprise::net
