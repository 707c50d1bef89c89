#include "proxy/net/resolve/resolver.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <mutex>
#include <unordered_map>

#include "proxy/net/resolve/interleave.hpp"

namespace reprise::net {
namespace {

constexpr std::size_t most_addresses = 16;

}  // namespace

// Owned by the resolver. A pending query may outlive the resolver; the result of the query is then discarded.
struct Resolver::State {
  struct Name {
    std::shared_ptr<const Addresses> result;  ///< addresses of a successful lookup
    Instant known_until{};
    Instant last_asked{};
    bool asking = false;
    bool resolved_once = false;
    std::vector<std::shared_ptr<Lookup>> waiting;

    /// Adds a waiting lookup. Removes abandoned lookups each time the list has doubled.
    void add(std::shared_ptr<Lookup> lookup) {
      if (waiting.size() >= crowded_) {
        std::erase_if(waiting, [](const auto& each) { return each.use_count() == 1; });
        crowded_ = std::max(least_crowded, 2 * waiting.size());
      }
      waiting.push_back(std::move(lookup));
    }
    bool is_wanted() const {
      return std::any_of(waiting.begin(), waiting.end(),
                         [](const auto& each) { return each.use_count() > 1; });
    }

   private:
    static constexpr std::size_t least_crowded = 64;
    std::size_t crowded_ = least_crowded;
  };
  using Names = std::unordered_map<std::string, Name>;

  std::mutex mutex;
  Names names;
  std::size_t remembered = 0;  ///< number of names without a pending lookup
  Query query;
  Limits limits;
  telemetry::Metrics* metrics = nullptr;

  /// Precondition of `settle`, `drop_result`, `drop` and `make_room`: the caller holds the mutex.
  void settle(Names::iterator, const Found&);
  /// Drops the addresses of a name. Keeps the entry only if the name has resolved once. Precondition: no
  /// lookup of the name is pending.
  void drop_result(Names::iterator);
  void drop(Names::iterator);
  void make_room();
};

Resolver::Resolver(Query query, const Limits& limits, telemetry::Metrics& metrics)
    : state_(std::make_shared<State>()) {
  state_->query = std::move(query);
  state_->limits = limits;
  state_->metrics = &metrics;
}

Resolver::~Resolver() {
  const std::scoped_lock lock(state_->mutex);
  state_->names.clear();
  state_->remembered = 0;
}

std::shared_ptr<Lookup> Resolver::start(const std::string& name, const asio::any_io_executor& executor) {
  auto lookup = std::make_shared<Lookup>(executor);
  State& state = *state_;
  {
    const std::scoped_lock lock(state.mutex);
    const Instant now = Tick::now();
    const auto [place, is_new] = state.names.try_emplace(name);
    State::Name& entry = place->second;
    entry.last_asked = now;
    if (entry.result && now < entry.known_until) {
      state.metrics->count_lookup(telemetry::LookupOutcome::hit);
      lookup->result_ = entry.result;
      return lookup;
    }
    entry.add(lookup);
    if (entry.asking) return lookup;
    entry.asking = true;
    entry.result.reset();
    if (!is_new) --state.remembered;
  }
  state.query(Question(state_, name));
  return lookup;
}

void Resolver::evict(const std::string& name) {
  const std::scoped_lock lock(state_->mutex);
  const auto place = state_->names.find(name);
  if (place != state_->names.end() && !place->second.asking) state_->drop_result(place);
}

void Resolver::Question::complete(const Found& found) const {
  const auto state = state_.lock();
  if (state == nullptr) return;
  const std::scoped_lock lock(state->mutex);
  const auto place = state->names.find(name_);
  if (place != state->names.end() && place->second.asking) state->settle(place, found);
}

bool Resolver::Question::is_given_up() const {
  const auto state = state_.lock();
  if (state == nullptr) return true;
  const std::scoped_lock lock(state->mutex);
  const auto place = state->names.find(name_);
  if (place == state->names.end()) return true;
  if (place->second.is_wanted()) return false;
  place->second.asking = false;
  place->second.waiting.clear();
  ++state->remembered;
  state->drop_result(place);
  return true;
}

// Ends a lookup. A failure is delivered to the waiting callers but not kept, so that a later lookup asks
// again.
void Resolver::State::settle(Names::iterator place, const Found& found) {
  Name& entry = place->second;
  entry.resolved_once = entry.resolved_once || !found.list.empty();
  const auto result = std::make_shared<const Addresses>(
      Addresses{interleaved(found.list, most_addresses), found.is_unknown && !entry.resolved_once});
  metrics->count_lookup(result->list.empty() ? telemetry::LookupOutcome::failed
                                             : telemetry::LookupOutcome::resolved);
  for (const auto& lookup : entry.waiting) lookup->deliver(result);
  entry.waiting.clear();
  entry.asking = false;
  ++remembered;
  const Duration keep = std::min(found.keep, limits.positive);
  if (result->list.empty() || keep <= Duration::zero()) return drop_result(place);
  entry.result = result;
  entry.known_until = Tick::now() + keep;
  make_room();
}

void Resolver::State::drop_result(Names::iterator place) {
  if (!place->second.resolved_once) return drop(place);
  place->second.result.reset();
  make_room();
}

void Resolver::State::drop(Names::iterator place) {
  names.erase(place);
  --remembered;
}

void Resolver::State::make_room() {
  if (remembered <= limits.names) return;
  auto oldest = names.end();
  for (auto entry = names.begin(); entry != names.end(); ++entry) {
    if (entry->second.asking) continue;
    if (oldest == names.end() || entry->second.last_asked < oldest->second.last_asked) oldest = entry;
  }
  drop(oldest);
}

Task<std::shared_ptr<const Addresses>> Lookup::wait(Duration limit) {
  const auto self = shared_from_this();
  if (!result_ && !cancelled_) {
    timer_.expires_after(limit);
    co_await timer_.async_wait(as_result);
  }
  co_return cancelled_ ? nullptr : result_;
}

void Lookup::deliver(std::shared_ptr<const Addresses> result) {
  asio::post(timer_.get_executor(), [self = shared_from_this(), result = std::move(result)] {
    self->result_ = result;
    self->timer_.cancel();
  });
}

void Lookup::cancel() {
  cancelled_ = true;
  timer_.cancel();
}

}  // namespace reprise::net
