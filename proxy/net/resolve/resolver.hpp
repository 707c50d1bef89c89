// Names to addresses without stalls: one look-up per name at
// a time, good answers kept for a moment, failures never.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "proxy/net/io/stream.hpp"
#include "proxy/net/io/task.hpp"
#include "proxy/telemetry/metrics/metrics.hpp"

namespace reprise::net {

/// What a name resolves to. Shared, immutable.
struct Addresses {
  /// In the resolver's order, families by turns; at most 16 (row I13). Empty: the name does not resolve.
  std::vector<asio::ip::address> list;
  /// The sources say that there is no such name, and this process has never resolved it: a mistake in a name,
  /// rather than a service that restarts. Only where `list` is empty.
  bool never_existed = false;
};

/// What came of asking for a name.
struct Found {
  std::vector<asio::ip::address> list;  ///< in the order of preference; empty: the name does not resolve
  Duration keep = Duration::max();      ///< for how long the source lets it be kept: the TTL, if it has one
  bool is_unknown = false;  ///< every source says that there is no such name (NXDOMAIN, EAI_NONAME)
};

/// One waiter: on one io thread, until the answer, its limit, or `cancel`.
class Lookup;

/// Shared by all io threads; thread-safe. A dead name costs its own waiters only, each until its own limit.
class Resolver {
 public:
  class Question;
  /// How a name is looked up. Called on any thread, once for each look-up; must not block, and may answer at
  /// once. Tests pass their own.
  using Query = std::function<void(Question)>;

  struct Limits {
    /// Remembered names, those that resolved once included; the one that was asked for longest ago goes.
    /// Look-ups under way are not counted: each has a waiter, or an end.
    std::size_t names = 1024;
    Duration positive = std::chrono::seconds(10);  ///< for how long a good answer is kept, TTL or none
  };

  Resolver(Query, const Limits&, telemetry::Metrics&);
  /// What is still being asked for is abandoned: its answer may come at any time, to nobody.
  ~Resolver();
  Resolver(const Resolver&) = delete;
  Resolver& operator=(const Resolver&) = delete;

  /// `executor` is the caller's; the lookup is used on its thread only. A look-up under way is shared.
  std::shared_ptr<Lookup> start(const std::string& name, const asio::any_io_executor& executor);
  /// What is remembered of the name has turned out to be of no use: the next one asks again (rows L1, L2).
  void forget(const std::string& name);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

/// One look-up under way, to be answered once: on any thread,
/// also when the resolver is gone. Copies are the same one.
class Resolver::Question {
 public:
  const std::string& name() const { return name_; }
  void complete(const Found& found) const;
  /// True if nobody waits for it any more: then it is over without an answer, and the next one who wants the
  /// name asks anew.
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

}  // namespace reprise::net
