#include "proxy/net/resolver.hpp"

#include <netdb.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <cstring>
#include <system_error>

#include "proxy/net/interleave.hpp"

namespace reprise::net {
namespace {

constexpr std::size_t most_addresses = 16;
// A dead name may hold a thread for many seconds: more are started while all of them are held.
constexpr unsigned most_threads = 32;
// How long an old answer may stand in while the system's resolver fails.
constexpr Duration stale_limit = std::chrono::minutes(5);

}  // namespace

// Owned by the resolver and its threads together: a thread that hangs in getaddrinfo outlives the resolver.
struct Resolver::State {
  struct Name {
    std::shared_ptr<const Addresses> answer;
    Instant known_until{};
    Instant usable_until{};
    Instant last_asked{};
    bool asking = false;
    std::vector<std::shared_ptr<Lookup>> waiting;

    /// Whoever has stopped waiting is dropped each time that as many again have come.
    void add(std::shared_ptr<Lookup> lookup) {
      if (waiting.size() >= crowded) {
        std::erase_if(waiting, [](const auto& each) { return each.use_count() == 1; });
        crowded = std::max(least_crowded, 2 * waiting.size());
      }
      waiting.push_back(std::move(lookup));
    }

   private:
    static constexpr std::size_t least_crowded = 64;
    std::size_t crowded = least_crowded;
  };

  std::mutex mutex;
  std::condition_variable work;
  std::deque<std::string> queue;
  std::unordered_map<std::string, Name> names;
  Query query;
  Limits limits;
  observe::Metrics* metrics = nullptr;
  bool stopping = false;
  unsigned threads = 0;
  unsigned resting = 0;  ///< threads that wait for work

  /// Under the mutex. Throws std::system_error where this host has no thread left.
  static void start_thread(const std::shared_ptr<State>&);
  static void start_another(const std::shared_ptr<State>&);
  void run();
  void answer_one(std::unique_lock<std::mutex>&);
  void settle(const std::string& name, const std::vector<asio::ip::address>& found);
  /// Makes room for one more name; false if every one is being asked for.
  bool has_room();
  bool is_abandoned(const std::string& name);
};

Resolver::Resolver(Query query, const Limits& limits, observe::Metrics& metrics)
    : state_(std::make_shared<State>()) {
  state_->query = std::move(query);
  state_->limits = limits;
  state_->metrics = &metrics;
  const std::scoped_lock lock(state_->mutex);
  for (unsigned i = 0; i < limits.threads; ++i) State::start_thread(state_);
}

void Resolver::State::start_thread(const std::shared_ptr<State>& state) {
  std::thread([state] { state->run(); }).detach();
  ++state->threads;
  ++state->resting;
}

Resolver::~Resolver() {
  const std::scoped_lock lock(state_->mutex);
  state_->stopping = true;
  state_->queue.clear();
  state_->names.clear();
  state_->work.notify_all();
}

std::shared_ptr<Lookup> Resolver::start(const std::string& name, const asio::any_io_executor& executor) {
  auto lookup = std::make_shared<Lookup>(executor);
  const std::scoped_lock lock(state_->mutex);
  State& state = *state_;
  const Instant now = Tick::now();
  if (!state.names.contains(name) && !state.has_room()) {
    state.metrics->count_lookup(observe::LookupOutcome::failed);
    lookup->answer_ = std::make_shared<const Addresses>();
    return lookup;
  }
  State::Name& entry = state.names[name];
  entry.last_asked = now;
  if (entry.answer && now < entry.known_until) {
    state.metrics->count_lookup(observe::LookupOutcome::hit);
    lookup->answer_ = entry.answer;
    return lookup;
  }
  entry.add(lookup);
  if (!entry.asking) {
    entry.asking = true;
    state.queue.push_back(name);
    const bool short_of_threads = state.queue.size() > state.resting && state.limits.threads > 0;
    if (short_of_threads && state.threads < most_threads) State::start_another(state_);
    state.work.notify_one();
  }
  return lookup;
}

// Without another thread the name waits for one of those that there are.
void Resolver::State::start_another(const std::shared_ptr<State>& state) {
  try {
    start_thread(state);
  } catch (const std::system_error&) {
    return;
  }
}

void Resolver::State::run() {
  std::unique_lock lock(mutex);
  for (;;) {
    work.wait(lock, [this] { return stopping || !queue.empty(); });
    if (stopping) return;
    --resting;
    answer_one(lock);
    if (stopping) return;
    ++resting;
  }
}

void Resolver::State::answer_one(std::unique_lock<std::mutex>& lock) {
  const std::string name = std::move(queue.front());
  queue.pop_front();
  if (is_abandoned(name)) return;
  lock.unlock();
  const std::vector<asio::ip::address> found = query(name);
  lock.lock();
  if (!stopping) settle(name, found);
}

std::size_t Resolver::questions() const {
  const std::scoped_lock lock(state_->mutex);
  return state_->queue.size();
}

bool Resolver::answer_one() {
  std::unique_lock lock(state_->mutex);
  if (state_->queue.empty()) return false;
  state_->answer_one(lock);
  return true;
}

// A failure keeps an older answer in use for a while: an upstream that was there a minute ago is likelier
// than none.
void Resolver::State::settle(const std::string& name, const std::vector<asio::ip::address>& found) {
  const auto place = names.find(name);
  if (place == names.end()) return;
  Name& entry = place->second;
  const Instant now = Tick::now();
  entry.asking = false;
  if (!found.empty()) {
    metrics->count_lookup(observe::LookupOutcome::resolved);
    entry.answer = std::make_shared<const Addresses>(Addresses{interleaved(found, most_addresses)});
    entry.known_until = now + limits.positive;
    entry.usable_until = now + stale_limit;
  } else if (entry.answer && !entry.answer->list.empty() && now < entry.usable_until) {
    metrics->count_lookup(observe::LookupOutcome::stale);
    entry.known_until = now + limits.negative;
  } else {
    metrics->count_lookup(observe::LookupOutcome::failed);
    entry.answer = std::make_shared<const Addresses>();
    entry.known_until = now + limits.negative;
  }
  for (const auto& lookup : entry.waiting) lookup->deliver(entry.answer);
  entry.waiting.clear();
}

// Nobody waits for it any more: its turn goes to a name that somebody waits for.
bool Resolver::State::is_abandoned(const std::string& name) {
  Name& entry = names.at(name);
  for (const auto& lookup : entry.waiting) {
    if (lookup.use_count() > 1) return false;
  }
  entry.waiting.clear();
  entry.asking = false;
  return true;
}

bool Resolver::State::has_room() {
  if (names.size() < limits.names) return true;
  auto oldest = names.end();
  for (auto entry = names.begin(); entry != names.end(); ++entry) {
    if (entry->second.asking) continue;
    if (oldest == names.end() || entry->second.last_asked < oldest->second.last_asked) oldest = entry;
  }
  if (oldest == names.end()) return false;
  names.erase(oldest);
  return true;
}

Task<std::shared_ptr<const Addresses>> Lookup::wait(Duration limit) {
  const auto self = shared_from_this();
  if (!answer_ && !cancelled_) {
    timer_.expires_after(limit);
    co_await timer_.async_wait(as_result);
  }
  co_return cancelled_ ? nullptr : answer_;
}

void Lookup::deliver(std::shared_ptr<const Addresses> answer) {
  asio::post(timer_.get_executor(), [self = shared_from_this(), answer = std::move(answer)] {
    self->answer_ = answer;
    self->timer_.cancel();
  });
}

void Lookup::cancel() {
  cancelled_ = true;
  timer_.cancel();
}

std::vector<asio::ip::address> query_system(const std::string& name) {
  addrinfo wanted{};
  wanted.ai_family = AF_UNSPEC;
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  std::vector<asio::ip::address> found;
  // Without AI_ADDRCONFIG, which hides names of /etc/hosts on a host with loopback interfaces only.
  if (::getaddrinfo(name.c_str(), nullptr, &wanted, &list) != 0) return found;
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owned(list, &::freeaddrinfo);
  for (const addrinfo* entry = list; entry != nullptr; entry = entry->ai_next) {
    tcp::endpoint endpoint;
    if (entry->ai_addrlen > endpoint.capacity()) continue;
    std::memcpy(endpoint.data(), entry->ai_addr, entry->ai_addrlen);
    endpoint.resize(entry->ai_addrlen);
    if (std::find(found.begin(), found.end(), endpoint.address()) == found.end())
      found.push_back(endpoint.address());
  }
  return found;
}

}  // namespace reprise::net
