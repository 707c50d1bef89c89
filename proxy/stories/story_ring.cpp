#include "proxy/stories/story_ring.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>

#include "proxy/observe/json_text.hpp"
#include "proxy/observe/line_parts.hpp"

namespace reprise::observe {
namespace {

enum Text : std::size_t { method, host, path, client, request_id, traceparent, text_count };

// What lies in the ring: this, then the attempts, then the texts, one behind the other.
struct StoredRequest {
  std::uint32_t bytes;  ///< of all of it, a multiple of 8
  std::uint32_t attempts;
  std::uint64_t number;
  std::uint64_t request_bytes;
  std::uint64_t response_bytes;
  std::int64_t ended_wall;
  std::int64_t took;
  std::uint64_t left_out;
  std::uint32_t route;
  std::int32_t status;
  std::array<std::uint16_t, text_count> lengths;
  std::uint16_t port;
  Ending ending;
  policy::Reason reason;
  policy::HedgeOutcome hedge;
  policy::Reason hedge_refusal;
  bool idempotent, own_response, tunnel, over_tls, recovered, ambiguous;
};

struct StoredAttempt {
  std::uint64_t sent_bytes;
  std::int64_t started, ended, wait, delay, lowest, highest;
  std::int64_t hint;  ///< -1: none
  std::uint32_t number;
  float budget_left;
  policy::UpstreamAddress address;
  std::int16_t status;  ///< 0: it failed
  policy::Stage stage;
  policy::Cause cause;
  policy::Reason reason;
  bool retry, reused, may_have_sent, said_no, from_reprise, body_listed;
};

static_assert(std::is_trivially_copyable_v<StoredRequest> && std::is_trivially_copyable_v<StoredAttempt>);
static_assert(sizeof(StoredRequest) % 8 == 0 && sizeof(StoredAttempt) % 8 == 0);

// Zero where the end of the memory is left empty, because the next story begins at its beginning.
constexpr std::uint32_t wrapped = 0;

StoredAttempt stored(const policy::LedgerEntry& entry, policy::Instant begun) {
  StoredAttempt to{};
  to.number = entry.attempt.number;
  to.reused = entry.attempt.reused;
  to.may_have_sent = entry.attempt.sent == policy::Sent::maybe;
  to.address = entry.address;
  to.sent_bytes = entry.sent_bytes;
  to.started = (entry.started - begun).count();
  to.ended = (entry.ended - begun).count();
  to.wait = entry.attempt.wait.count();
  to.reason = entry.verdict.reason;
  to.retry = entry.verdict.retry;
  to.delay = entry.verdict.delay.count();
  to.lowest = entry.bounds.lowest.count();
  to.highest = entry.bounds.highest.count();
  to.budget_left = entry.budget_left;
  to.hint = -1;
  if (const auto* answered = std::get_if<policy::Answered>(&entry.outcome)) {
    to.status = static_cast<std::int16_t>(answered->status);
    if (answered->hints.retry_after) to.hint = answered->hints.retry_after->count();
    to.said_no = answered->hints.said_no;
    to.from_reprise = answered->hints.from_reprise;
    to.body_listed = answered->body_listed;
  } else {
    const auto& failed = std::get<policy::Failed>(entry.outcome);
    to.stage = failed.stage;
    to.cause = failed.cause;
  }
  return to;
}

StoryAttempt told(const StoredAttempt& from) {
  StoryAttempt to;
  to.number = from.number;
  to.reused = from.reused;
  to.may_have_sent = from.may_have_sent;
  to.address = from.address;
  to.sent_bytes = from.sent_bytes;
  to.started = policy::Duration(from.started);
  to.ended = policy::Duration(from.ended);
  to.wait = policy::Duration(from.wait);
  to.verdict = {from.retry, policy::Duration(from.delay), from.reason};
  to.bounds = {policy::Duration(from.lowest), policy::Duration(from.highest)};
  to.budget_left = from.budget_left;
  if (from.status == 0) {
    to.outcome = policy::Failed{from.stage, from.cause};
    return to;
  }
  policy::Answered answered{from.status, {}, from.body_listed};
  if (from.hint >= 0) answered.hints.retry_after = policy::Duration(from.hint);
  answered.hints.said_no = from.said_no;
  answered.hints.from_reprise = from.from_reprise;
  to.outcome = answered;
  return to;
}

StoredRequest stored(const ExchangeRecord& record, std::int64_t ended_wall) {
  StoredRequest to{};
  to.number = record.number;
  to.request_bytes = record.request_bytes;
  to.response_bytes = record.response_bytes;
  to.ended_wall = ended_wall;
  to.took = (record.ended - record.started).count();
  to.left_out = attempts_left_out(record.ledger->size());
  to.attempts = static_cast<std::uint32_t>(record.ledger->size() - to.left_out);
  to.route = static_cast<std::uint32_t>(record.route);
  to.status = record.status;
  to.port = record.port;
  to.ending = record.ending;
  to.reason = record.ledger->reason;
  to.hedge = record.ledger->hedge;
  to.hedge_refusal = record.ledger->hedge_refusal;
  to.idempotent = record.idempotent;
  to.own_response = record.own_response;
  to.tunnel = record.tunnel;
  to.over_tls = record.over_tls;
  to.recovered = is_recovered(record);
  to.ambiguous = record.ledger->ambiguous;
  return to;
}

template <typename Stored>
std::byte* put(std::byte* at, const Stored& what) {
  std::memcpy(at, &what, sizeof what);
  return at + sizeof what;
}

template <typename Stored>
Stored get(const std::byte* at) {
  Stored what;
  std::memcpy(&what, at, sizeof what);
  return what;
}

std::byte* put_attempts(std::byte* at, const ExchangeRecord& record, std::uint64_t left_out) {
  const policy::Ledger& ledger = *record.ledger;
  for (std::size_t i = 0; i < ledger.size(); ++i) {
    if (left_out > 0 && i == first_attempts_shown) i += left_out;
    at = put(at, stored(ledger[i], record.started));
  }
  return at;
}

}  // namespace

StoryRing::StoryRing(std::size_t bytes)
    : capacity_(bytes / 8 * 8),
      bytes_(capacity_ == 0 ? nullptr : std::make_unique_for_overwrite<std::byte[]>(capacity_)) {}

void StoryRing::keep(const ExchangeRecord& record, std::int64_t ended_wall, bool path_too) {
  const std::array<std::string_view, text_count> texts{clipped(record.method),
                                                       clipped(record.host),
                                                       path_too ? clipped(record.path) : std::string_view(),
                                                       clipped(record.client),
                                                       clipped(record.request_id),
                                                       clipped(record.traceparent)};
  StoredRequest request = stored(record, ended_wall);
  std::size_t bytes = sizeof request + request.attempts * sizeof(StoredAttempt);
  for (std::size_t i = 0; i < text_count; ++i) {
    request.lengths[i] = static_cast<std::uint16_t>(texts[i].size());
    bytes += texts[i].size();
  }
  bytes = (bytes + 7) / 8 * 8;
  request.bytes = static_cast<std::uint32_t>(bytes);
  std::byte* at = make_room(bytes);
  if (at == nullptr) return;
  at = put_attempts(put(at, request), record, request.left_out);
  for (const std::string_view text : texts) {
    std::memcpy(at, text.data(), text.size());
    at += text.size();
  }
}

// Behind the newest story, or at the beginning; whatever lies there goes.
std::byte* StoryRing::make_room(std::size_t bytes) {
  if (bytes > capacity_) return nullptr;
  if (end_ + bytes > capacity_) {
    // What lies between here and the end is older than all that lies at the beginning.
    while (first_ != none && first_ >= end_) drop_first();
    if (end_ < capacity_) put(bytes_.get() + end_, wrapped);
    end_ = 0;
  }
  while (first_ != none && first_ >= end_ && first_ < end_ + bytes) drop_first();
  if (first_ == none) first_ = end_;
  last_ = end_;
  end_ += bytes;
  ++count_;
  return bytes_.get() + last_;
}

void StoryRing::drop_first() {
  first_ = next(first_);
  --count_;
}

std::size_t StoryRing::next(std::size_t at) const {
  if (at == last_) return none;
  at += get<std::uint32_t>(bytes_.get() + at);
  const bool at_the_end = at >= capacity_ || get<std::uint32_t>(bytes_.get() + at) == wrapped;
  return at_the_end ? 0 : at;
}

std::uint64_t StoryRing::number_at(std::size_t at) const {
  return get<StoredRequest>(bytes_.get() + at).number;
}

std::string_view StoryRing::request_id_at(std::size_t at) const {
  const auto request = get<StoredRequest>(bytes_.get() + at);
  const std::byte* text = bytes_.get() + at + sizeof request + request.attempts * sizeof(StoredAttempt);
  for (std::size_t i = 0; i < Text::request_id; ++i) text += request.lengths[i];
  return {reinterpret_cast<const char*>(text), request.lengths[Text::request_id]};
}

std::size_t StoryRing::count_after(std::uint64_t number) const {
  std::size_t count = 0;
  for (std::size_t at = first_; at != none; at = next(at)) count += number_at(at) > number ? 1U : 0U;
  return count;
}

Story StoryRing::decode(std::size_t at) const {
  const std::byte* from = bytes_.get() + at;
  const auto request = get<StoredRequest>(from);
  from += sizeof request;
  Story story;
  story.number = request.number;
  story.route = request.route;
  story.port = request.port;
  story.ended_wall = request.ended_wall;
  story.took = policy::Duration(request.took);
  story.ending = request.ending;
  story.status = request.status;
  story.idempotent = request.idempotent;
  story.own_response = request.own_response;
  story.tunnel = request.tunnel;
  story.over_tls = request.over_tls;
  story.recovered = request.recovered;
  story.ambiguous = request.ambiguous;
  story.reason = request.reason;
  story.hedge = request.hedge;
  story.hedge_refusal = request.hedge_refusal;
  story.request_bytes = request.request_bytes;
  story.response_bytes = request.response_bytes;
  story.attempts_left_out = request.left_out;
  story.attempts_before_the_gap = request.left_out > 0 ? first_attempts_shown : 0;
  story.attempts.reserve(request.attempts);
  for (std::uint32_t i = 0; i < request.attempts; ++i, from += sizeof(StoredAttempt))
    story.attempts.push_back(told(get<StoredAttempt>(from)));
  const std::array<std::string*, text_count> texts{&story.method, &story.host,       &story.path,
                                                   &story.client, &story.request_id, &story.traceparent};
  for (std::size_t i = 0; i < text_count; ++i) {
    texts[i]->assign(reinterpret_cast<const char*>(from), request.lengths[i]);
    from += request.lengths[i];
  }
  return story;
}

std::optional<Story> StoryRing::find(std::uint64_t number) const {
  for (std::size_t at = first_; at != none; at = next(at)) {
    if (number_at(at) == number) return decode(at);
  }
  return std::nullopt;
}

std::optional<Story> StoryRing::find(std::string_view request_id) const {
  std::size_t found = none;
  for (std::size_t at = first_; at != none; at = next(at)) {
    if (request_id_at(at) == request_id) found = at;
  }
  return found == none ? std::nullopt : std::optional(decode(found));
}

}  // namespace reprise::observe
