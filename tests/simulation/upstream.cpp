#include "tests/simulation/upstream.hpp"

#include <algorithm>
#include <utility>

#include "tests/simulation/content.hpp"
#include "tests/simulation/request_head.hpp"

namespace reprise::simulation {

Upstream::Upstream(Seed seed, World& world, Faults& faults, Book& book, std::shared_ptr<Wire> wire,
                   Canary canary)
    : seed_(seed),
      world_(world),
      faults_(faults),
      book_(book),
      canary_(canary),
      wire_(std::move(wire)),
      pieces_(seed, Purpose::pieces, world.steps()),
      idle_limit_(draw_idle_limit(seed)) {
  wire_->attach(this);
  wire_->on_offer([this](std::string_view head, std::size_t taken) { offered(head, taken); });
  wire_->on_swallow([this](std::string_view head, std::size_t) { swallowed(head); });
  reader_.begin(HttpReader::Kind::request);
}

Upstream::~Upstream() {
  wire_->attach(nullptr);
  wire_->on_offer({});
  wire_->on_swallow({});
}

// Counts effects here and not when bytes are read, because every byte that the kernel took may have reached
// the upstream.
void Upstream::offered(std::string_view head, std::size_t taken) {
  if (const auto id = story_number(head)) {
    Account* account = book_.find(*id);
    if (account == nullptr) return book_.broken("an upstream is only asked what a client has asked");
    if (!coming_.empty() && !answered_) return book_.broken("a connection carries one request at a time");
    if (finished_ && !current_idles_)
      return book_.broken("a connection that its upstream has closed is not used again");
    begin(*account);
  }
  if (coming_.empty()) return;
  coming_.back().accepted += taken;
  commit(coming_.back());
}

void Upstream::swallowed(std::string_view head) {
  const auto id = story_number(head);
  if (!id) return;
  Account* account = book_.find(*id);
  if (account == nullptr) return book_.broken("an upstream is only asked what a client has asked");
  carry(*account);
  if (carried_ > 0) account->in_vain.push_back({world_.now(), wire_->last_heard()});
  if (book_.telling()) book_.tell("request " + std::to_string(*id) + " is swallowed");
}

// Records which connection carries the request (rows F10, D10).
void Upstream::carry(Account& account) {
  if (account.plan.takes_no_risk && (carried_ > 0 || canary_ == Canary::used_before))
    book_.broken("what cannot be repeated begins on a connection that has carried nothing");
  const void* const here = canary_ == Canary::one_connection ? static_cast<const void*>(&book_) : this;
  account.rides.push_back({.at = world_.now(), .connection = here, .losses = {}});
}

void Upstream::begin(Account& account) {
  carry(account);
  if (account.plan.terminated && !wire_->sealed()) book_.broken("what came over TLS goes out over TLS");
  Coming coming;
  coming.account = &account;
  coming.arrival = ++account.arrivals;
  coming.carried = carried_++;
  coming.plan = plan_response(seed_, faults_, account, coming.arrival, std::nullopt, coming.carried > 0);
  coming_.push_back(std::move(coming));
  if (book_.telling())
    book_.tell("request " + std::to_string(account.plan.id) + " arrives, " +
               std::to_string(account.arrivals));
}

void Upstream::commit(Coming& coming) {
  if (coming.committed || !coming.plan.commits || coming.accepted < coming.plan.commit_at) return;
  coming.committed = true;
  coming.account->effects += canary_ == Canary::repeated_effect ? 2 : 1;
  if (!coming.account->plan.idempotent && coming.account->effects > 1)
    book_.broken("a request that is not marked idempotent has at most one effect");
}

void Upstream::look() {
  if (over_) return;
  if (wire_->was_reset() || wire_->proxy_let_go()) {
    over_ = true;
    return;
  }
  read();
  pump();
}

void Upstream::reset() {
  over_ = true;
  wire_->reset();
}

void Upstream::read() {
  while (!over_ && !wire_->received().empty()) {
    if (finished_ && !busy_) return reset();  // bytes arrived on a connection that this end has closed
    if (!coming_.empty() && current().plan.unread && reader_.head_is_whole()) return;
    const bool had_head = reader_.head_is_whole();
    const std::size_t used =
        reader_.feed(wire_->received(), [this](std::string_view piece) { take_body(piece); });
    if (reader_.broken()) book_.broken("the upstream never sees a broken message");
    if (used == 0 || coming_.empty())
      return book_.broken("an upstream is only asked what a client has asked");
    if (!had_head && reader_.head_is_whole()) head_came();
    wire_->consume(used);
    current().account->moved = world_.now();
    if (current().plan.resets && current().accepted >= *current().plan.resets) return reset();
    if (reader_.complete()) request_came();
  }
}

void Upstream::take_body(std::string_view bytes) {
  if (!coming_.empty() && !Content(current().account->plan.id, 0).holds(body_bytes_, bytes))
    book_.broken("every attempt carries the body of its request");
  body_bytes_ += bytes.size();
}

void Upstream::judge_head() {
  Account& account = *current().account;
  std::string head = without(reader_.head(), "Reprise-Attempt");
  const bool absolute = head.find(" http://") < head.find("\r\n");
  if (absolute != is_parent_ || field(head, "Proxy-Authorization").has_value() != is_parent_)
    book_.broken("a parent proxy, and nobody else, gets absolute-form and our authorization");
  head = without(without(std::move(head), "Range"), "If-Range");
  if (account.head.empty()) {
    account.head = std::move(head);
  } else if (account.head != head) {
    book_.broken("the request is the same on every attempt");
  }
}

// Puts the version field of the requested version on the bytes of another version.
void Upstream::hide_change(const RangeRequest& range, ResponsePlan& plan) const {
  const VersionField named_by = version_field(seed_, coming_.front().account->plan.id);
  const std::string changed = version_line(named_by, plan.version);
  const std::size_t place = plan.bytes.find(changed);
  if (place != std::string::npos)
    plan.bytes.replace(place, changed.size(), version_line(named_by, range.version));
}

void Upstream::head_came() {
  judge_head();
  Coming& coming = current();
  if (auto range = range_of(reader_.head())) {
    if (!range->conditional) range->version = version_given_last(*coming.account);
    const bool hides = canary_ == Canary::unnamed_change;
    const RangeRequest heard = hides ? RangeRequest{range->first, 0, false} : *range;
    coming.plan = plan_response(seed_, faults_, *coming.account, coming.arrival, heard, coming.carried > 0);
    if (hides) hide_change(*range, coming.plan);
  }
  if (coming.plan.early) response();
}

void Upstream::request_came() {
  Coming& coming = current();
  if (body_bytes_ != coming.account->plan.body_bytes)
    book_.broken("the upstream never takes a part of a body for the whole");
  reader_.begin(HttpReader::Kind::request);
  body_bytes_ = 0;
  request_whole_ = true;
  if (!coming.plan.early) {
    response();
  } else if (answered_) {
    response_ended();
  }
}

void Upstream::response() {
  busy_ = true;
  answered_ = false;
  const ResponsePlan& plan = current().plan;
  Account& account = *current().account;
  out_ = plan.bytes;
  after_ = plan.after;
  surplus_ = plan.surplus;
  pause_ = plan.pause;
  if (canary_ == Canary::wrong_byte && out_.size() > 400) out_[out_.size() - 20] = '~';
  if (canary_ == Canary::lost_end && after_ == After::finish && out_.size() > 400) out_.pop_back();
  account.served.push_back({plan.version, plan.status, plan.tells});
  if (book_.telling())
    book_.tell("request " + std::to_string(account.plan.id) + ": answering " + std::to_string(plan.status) +
               " version " + std::to_string(plan.version) + ", " + std::to_string(out_.size()) +
               " bytes, then " + std::to_string(static_cast<int>(after_)));
  if (plan.wait > Duration::zero()) {
    go_on_later(plan.wait);
  } else {
    pump();
  }
}

void Upstream::go_on_later(Duration wait) {
  pausing_ = true;
  world_.after(wait, [this, alive = std::weak_ptr<char>(alive_)] {
    if (alive.expired()) return;
    pausing_ = false;
    look();
  });
}

void Upstream::pump() {
  while (!over_ && !pausing_ && !out_.empty()) {
    const std::size_t most = pieces_.one_in(2) ? out_.size() : pieces_.between(1, out_.size());
    // Sends surplus bytes together with the end of the response. If they were sent later, the proxy could
    // take them for the next response.
    if (surplus_ > 0 && most + surplus_ >= out_.size()) {
      wire_->send_whole(out_);
      out_.clear();
      break;
    }
    const std::size_t taken = wire_->send(std::string_view(out_).substr(0, most));
    out_.erase(0, taken);
    if (taken == 0) return;
    // Each pause is half of the previous one. The sum of the pauses stays below every timeout, because a
    // pause is not a fault.
    if (!out_.empty() && pause_ > Duration::zero()) return go_on_later(std::exchange(pause_, pause_ / 2));
  }
  if (!over_ && !pausing_ && busy_ && out_.empty()) {
    busy_ = false;
    answered_ = after_ != After::fall_silent;
    response_ended();
  }
}

void Upstream::response_ended() {
  if (after_ == After::reset) return reset();
  if (after_ == After::finish) {
    wire_->finish();
    finished_ = true;
  }
  if (after_ != After::keep || !request_whole_) return;
  ResponsePlan done = std::move(current().plan);
  coming_.pop_front();
  request_whole_ = false;
  if (done.vanishes) {
    wire_->vanish();
  } else if (!done.idles_for && faults_.plays(Fault::hidden_idle_limit, idle_limit_.has_value())) {
    done.idles_for = idle_limit_;
  }
  current_idles_ = done.idles_for.has_value();
  if (done.idles_for) rest(done);
}

// Closes an idle connection after the drawn time.
void Upstream::rest(const ResponsePlan& done) {
  world_.after(*done.idles_for,
               [this, alive = std::weak_ptr<char>(alive_), carried = carried_, speaks = done.speaks_idly] {
                 if (alive.expired() || over_ || carried != carried_) return;
                 if (speaks) wire_->send("HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n");
                 wire_->finish();
                 finished_ = true;
               });
}

}  // namespace reprise::simulation
