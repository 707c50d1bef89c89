#include "proxy/net/upstream/http2_set.hpp"

#include <algorithm>
#include <utility>

#include "proxy/net/streams/count_codes.hpp"

namespace reprise::net {
namespace {

// Shortest idle time of a connection on which the upstream allows no stream.
constexpr Duration shortest_wait_for_room = std::chrono::seconds(1);

bool is_among(const RecentConnections& recent, std::uint64_t number) {
  return std::find(recent.begin(), recent.end(), number) != recent.end();
}

}  // namespace

SharedConnection::SharedConnection(Http2Set& set, std::shared_ptr<Http2UpstreamConnection> connection,
                                   const policy::UpstreamAddress& address,
                                   std::shared_ptr<const AddressFilter> allowed_by, std::uint64_t number)
    : set_(set),
      connection_(std::move(connection)),
      address_(address),
      allowed_by_(std::move(allowed_by)),
      number_(number) {
  set_.pool_.metrics_.upstream_changed(telemetry::UpstreamState::active, 1);
  set_.pool_.metrics_.http2_connections_changed(telemetry::Http2Side::upstream, 1);
}

SharedConnection::~SharedConnection() {
  set_.pool_.metrics_.upstream_changed(
      counted_as_idle_ ? telemetry::UpstreamState::idle : telemetry::UpstreamState::active, -1);
  set_.pool_.metrics_.http2_connections_changed(telemetry::Http2Side::upstream, -1);
}

std::size_t SharedConnection::room() const {
  const std::size_t open = connection_->open_streams();
  const std::size_t unopened = lent_ > open ? lent_ - open : 0;
  const std::size_t room = connection_->room();
  return room > unopened ? room - unopened : 0;
}

void SharedConnection::retire() {
  retired_ = true;
  if (is_idle()) set_.close(*this);
}

void SharedConnection::time_is_up() { set_.close(*this); }

StreamLease::StreamLease(std::shared_ptr<Upstream> upstream, std::shared_ptr<SharedConnection> connection)
    : upstream_(std::move(upstream)),
      connection_(std::move(connection)),
      reused_(std::exchange(connection_->reused_, true)),
      stream_(std::in_place, connection_->connection_, upstream_->tls == nullptr ? "http" : "https") {}

StreamLease::~StreamLease() {
  const auto failure = stream_->failure();
  // Such an upstream would refuse each further stream, too (row M70).
  if (failure && failure->code == policy::Http2Code::enhance_your_calm) connection_->retired_ = true;
  stream_.reset();
  connection_->set_.given_back(*connection_);
}

Http2Set::Http2Set(Pool& pool, Upstream& upstream) : pool_(pool), upstream_(upstream) {}

Http2Set::~Http2Set() {
  for (const auto& each : connections_) {
    each->connection_->set_listener(nullptr);
    each->connection_->close();
  }
}

Http2Set::Turn::Turn(Http2Set& set, const asio::any_io_executor& executor)
    : set_(set), pause_(executor), failed_dials_(set.failed_dials_) {}

Http2Set::Turn::~Turn() { leave(); }

bool Http2Set::Turn::is_first() const { return set_.queue_.empty() || set_.queue_.front() == this; }

Task<bool> Http2Set::Turn::wait(Instant due) {
  if (!std::exchange(queued_, true)) set_.queue_.push_back(this);
  if (!cancelled_) co_await pause_.until(due);
  co_return !cancelled_;
}

Task<bool> Http2Set::Turn::wait_for_dial(Instant due) {
  set_.await_dial_.push_back(this);
  if (!cancelled_) co_await pause_.until(due);
  std::erase(set_.await_dial_, this);
  co_return !cancelled_;
}

void Http2Set::Turn::leave() {
  std::erase(set_.await_dial_, this);
  if (!std::exchange(queued_, false)) return;
  std::erase(set_.queue_, this);
  set_.wake_next();
}

void Http2Set::Turn::cancel() {
  cancelled_ = true;
  pause_.cancel();
}

Http2Set::Dialling::Dialling(Http2Set& set, std::shared_ptr<const void> client)
    : set_(set), client_(std::move(client)) {
  set_.dialling_.push_back(this);
}

Http2Set::Dialling::~Dialling() {
  std::erase(set_.dialling_, this);
  if (!succeeded_) ++set_.failed_dials_;
  for (Turn* const turn : set_.await_dial_) turn->pause_.cancel();
  set_.wake_next();
}

bool Http2Set::awaits_dial(const StreamRequest& request, const Turn& turn) const {
  if (turn.queued_ || turn.failed_dials_ != failed_dials_) return false;
  return std::any_of(dialling_.begin(), dialling_.end(),
                     [&](const Dialling* each) { return each->client_ == request.client; });
}

void Http2Set::wake_next() {
  if (!queue_.empty()) queue_.front()->pause_.cancel();
}

// Also retires a connection that is too old, or whose address is denied since the last reload (row N3).
bool Http2Set::is_usable(SharedConnection& connection, const StreamRequest& request) const {
  if (connection.retired_ || is_among(request.recent, connection.number_)) return false;
  if (connection.expires_ && *connection.expires_ <= Tick::now()) connection.retired_ = true;
  if (connection.allowed_by_ != request.filter) {
    connection.retired_ = connection.retired_ || is_denied(*request.filter, upstream_, connection.address_);
    connection.allowed_by_ = request.filter;
  }
  return !connection.retired_ && connection.room() > 0;
}

bool Http2Set::is_preferred(SharedConnection& connection, const StreamRequest& request) const {
  const auto& avoided = request.not_to;
  return std::find(avoided.begin(), avoided.end(), connection.address_) == avoided.end() &&
         is_usable(connection, request);
}

std::unique_ptr<StreamLease> Http2Set::lend(SharedConnection& connection, const StreamRequest& request) {
  if (connection.is_idle()) end_idle(connection);
  ++connection.lent_;
  pool_.metrics_.http2_streams_changed(telemetry::Http2Side::upstream, 1);
  if (connection.owner_.expired()) connection.owner_ = request.client;
  return std::make_unique<StreamLease>(request.upstream, connection.shared_from_this());
}

std::unique_ptr<StreamLease> Http2Set::of(SharedConnection& connection, const StreamRequest& request) {
  if (is_usable(connection, request)) return lend(connection, request);
  // The upstream allows no stream on the connection. It is kept in any case, so that the requests that wait
  // for a stream do not dial again and again. Its end wakes them.
  if (connection.is_idle())
    stay_idle(connection, std::max(pool_.settings_.idle_timeout, shortest_wait_for_room));
  return nullptr;
}

std::unique_ptr<StreamLease> Http2Set::of_client(const StreamRequest& request) {
  for (const auto& each : connections_) {
    const bool is_own = each->owner_.lock() == request.client;
    if (is_own && is_preferred(*each, request)) return lend(*each, request);
  }
  return nullptr;
}

std::unique_ptr<StreamLease> Http2Set::of_idle(const StreamRequest& request) {
  const Instant now = Tick::now();
  for (const auto& each : connections_) {
    if (!each->is_idle() || !each->owner_.expired()) continue;
    const bool is_recent = now - each->idle_since_ <= recent_limit;
    if (request.freshness != Freshness::any && !is_recent) continue;
    if (request.freshness == Freshness::unused && each->reused_) continue;
    if (is_preferred(*each, request)) return lend(*each, request);
  }
  return nullptr;
}

std::unique_ptr<StreamLease> Http2Set::of_least_loaded(const StreamRequest& request) {
  SharedConnection* least = nullptr;
  for (const auto& each : connections_) {
    if (is_usable(*each, request) && (least == nullptr || each->lent_ < least->lent_)) least = each.get();
  }
  return least == nullptr ? nullptr : lend(*least, request);
}

// Connections that the request must not use do not count: otherwise a retry could wait for ever.
bool Http2Set::may_dial(const StreamRequest& request) {
  std::size_t usable = dialling_.size();
  bool has_room = !dialling_.empty();
  for (const auto& each : connections_) {
    if (each->retired_ || is_among(request.recent, each->number_)) continue;
    ++usable;
    has_room = has_room || each->room() > 0;
    // The upstream allows no stream at all, and would not allow one on another connection either.
    if (each->is_idle() && each->connection_->state().allows_no_stream()) return false;
  }
  if (usable < pool_.settings_.http2_connections || (request.may_hold_stream && !has_room)) return true;
  SharedConnection* const replaced = request.freshness == Freshness::any ? nullptr : idle_longest();
  if (replaced == nullptr) return false;
  close(*replaced);
  return true;
}

// Returns the connection without an owner that has been idle for the longest time; null if there is none.
SharedConnection* Http2Set::idle_longest() const {
  SharedConnection* longest = nullptr;
  for (const auto& each : connections_) {
    const bool is_free = each->is_idle() && each->owner_.expired();
    if (is_free && (longest == nullptr || each->idle_since_ < longest->idle_since_)) longest = each.get();
  }
  return longest;
}

std::shared_ptr<SharedConnection> Http2Set::add(std::shared_ptr<Http2UpstreamConnection> connection,
                                                const StreamRequest& request,
                                                const policy::UpstreamAddress& address) {
  auto shared = std::make_shared<SharedConnection>(*this, std::move(connection), address, request.filter,
                                                   ++pool_.connections_);
  shared->connection_->set_listener([this, added = shared.get()] { changed(*added); });
  shared->owner_ = request.client;
  connections_.push_back(shared);
  return shared;
}

void Http2Set::end_idle(SharedConnection& connection) {
  Tick::disarm(connection);
  if (!std::exchange(connection.counted_as_idle_, false)) return;
  pool_.metrics_.upstream_changed(telemetry::UpstreamState::idle, -1);
  pool_.metrics_.upstream_changed(telemetry::UpstreamState::active, 1);
}

void Http2Set::begin_idle(SharedConnection& connection) {
  const Duration life = std::min(pool_.settings_.idle_timeout,
                                 upstream_.idle_life.limit(Tick::now()).value_or(policy::no_limit));
  const bool is_kept =
      !pool_.closing_ && !upstream_.evicted && pool_.settings_.idle > 0 && life > Duration::zero();
  if (is_kept) {
    stay_idle(connection, life);
  } else {
    close(connection);
  }
}

// Closes the connection after `life`, or when it is too old.
void Http2Set::stay_idle(SharedConnection& connection, Duration life) {
  const Instant now = Tick::now();
  const Instant expires = connection.expires_.value_or(policy::no_end);
  if (connection.retired_ || expires <= now) return close(connection);
  connection.idle_since_ = now;
  connection.counted_as_idle_ = true;
  pool_.metrics_.upstream_changed(telemetry::UpstreamState::active, -1);
  pool_.metrics_.upstream_changed(telemetry::UpstreamState::idle, 1);
  if (expires - now < life) {
    pool_.tick_.arm_until(connection, expires);
  } else {
    pool_.tick_.arm(connection, life);
  }
}

void Http2Set::given_back(SharedConnection& connection) {
  --connection.lent_;
  pool_.metrics_.http2_streams_changed(telemetry::Http2Side::upstream, -1);
  const bool is_member = std::any_of(connections_.begin(), connections_.end(),
                                     [&](const auto& each) { return each.get() == &connection; });
  if (is_member && connection.is_idle()) begin_idle(connection);
  wake_next();
}

void Http2Set::drop(const SharedConnection& connection) {
  connection.connection_->set_listener(nullptr);
  std::erase_if(connections_, [&](const auto& each) { return each.get() == &connection; });
}

void Http2Set::close(SharedConnection& connection) {
  const std::shared_ptr<SharedConnection> last_use = connection.shared_from_this();
  drop(connection);
  connection.connection_->close();
  wake_next();  // the next request may dial
}

// Called if the connection has read something or has ended.
void Http2Set::changed(SharedConnection& connection) {
  const std::shared_ptr<SharedConnection> last_use = connection.shared_from_this();
  count_codes(*connection.connection_);
  const bool has_ended = !connection.connection_->is_open();
  connection.retired_ = connection.retired_ || has_ended || connection.connection_->state().going_away();
  if (has_ended) {
    const Instant now = Tick::now();
    if (connection.is_idle()) upstream_.idle_life.ended_after(now - connection.idle_since_, now);
    drop(connection);
  } else if (connection.retired_ && connection.is_idle()) {
    close(connection);
  }
  wake_next();
}

void Http2Set::count_codes(Http2UpstreamConnection& connection) {
  net::count_codes(pool_.metrics_, telemetry::Http2Side::upstream, connection);
}

void Http2Set::retire_all() {
  const auto before = connections_;
  for (const auto& each : before) each->retire();
}

bool Http2Set::make_room() {
  const auto idle = std::find_if(connections_.begin(), connections_.end(),
                                 [](const auto& each) { return each->is_idle(); });
  if (idle == connections_.end()) return false;
  close(**idle);
  return true;
}

}  // namespace reprise::net
