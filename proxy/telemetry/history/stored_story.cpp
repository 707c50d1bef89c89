#include "proxy/telemetry/history/stored_story.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <type_traits>

#include "proxy/telemetry/log/json_text.hpp"
#include "proxy/telemetry/log/line_parts.hpp"

namespace reprise::telemetry {
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

StoredStory::StoredStory(const ExchangeRecord& record, std::int64_t ended_wall, bool path)
    : record_(record),
      ended_wall_(ended_wall),
      texts_{clipped(record.method),
             clipped(record.host),
             path ? clipped(record.path) : std::string_view(),
             clipped(record.client),
             clipped(record.request_id),
             clipped(record.traceparent)},
      left_out_(attempts_left_out(record.ledger->size())),
      attempts_(record.ledger->size() - left_out_),
      bytes_(sizeof(StoredRequest) + attempts_ * sizeof(StoredAttempt)) {
  static_assert(text_count == Text::text_count);
  for (const std::string_view text : texts_) bytes_ += text.size();
  bytes_ = (bytes_ + 7) / 8 * 8;
}

void StoredStory::put(std::byte* at) const {
  StoredRequest request = stored(record_, ended_wall_);
  request.bytes = static_cast<std::uint32_t>(bytes_);
  request.left_out = left_out_;
  request.attempts = static_cast<std::uint32_t>(attempts_);
  for (std::size_t i = 0; i < text_count; ++i)
    request.lengths[i] = static_cast<std::uint16_t>(texts_[i].size());
  at = put_attempts(telemetry::put(at, request), record_, left_out_);
  for (const std::string_view text : texts_) {
    // Not memcpy: an empty view may point nowhere.
    const auto bytes = std::as_bytes(std::span(text));
    at = std::copy(bytes.begin(), bytes.end(), at);
  }
}

std::size_t story_bytes_at(const std::byte* from) { return get<std::uint32_t>(from); }

std::uint64_t story_number_at(const std::byte* from) { return get<StoredRequest>(from).number; }

std::string_view story_request_id_at(const std::byte* from) {
  const auto request = get<StoredRequest>(from);
  const std::byte* text = from + sizeof request + request.attempts * sizeof(StoredAttempt);
  for (std::size_t i = 0; i < Text::request_id; ++i) text += request.lengths[i];
  return {reinterpret_cast<const char*>(text), request.lengths[Text::request_id]};
}

Story told_story(const std::byte* from) {
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

}  // namespace reprise::telemetry
