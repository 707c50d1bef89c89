#include "proxy/telemetry/history/encoded_entry.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <type_traits>

#include "proxy/telemetry/log/json_text.hpp"
#include "proxy/telemetry/log/line_parts.hpp"

namespace reprise::telemetry {
namespace {

// Index of the request id in the list of texts.
constexpr std::size_t request_id_place = [] {
  ExchangeTexts<int> texts{};
  const auto all = pointers_to(texts);
  return static_cast<std::size_t>(std::find(all.begin(), all.end(), &texts.request_id) - all.begin());
}();

// An encoded entry consists of this header, then the attempts, then the texts, one directly after the other.
struct StoredRequest {
  std::uint16_t bytes;  ///< size of the whole entry, a multiple of 8
  std::uint8_t attempts;
  bool recovered;
  std::uint32_t left_out;
  ExchangeNumbers numbers;
  std::array<std::uint16_t, exchange_text_count> lengths;
  policy::Conclusion conclusion;
};

struct StoredAttempt {
  std::uint64_t sent_bytes;
  std::int64_t started, ended, wait, delay, lowest, highest;
  std::int64_t hint;  ///< -1: none
  std::int64_t queued;
  std::string_view reset_code;  ///< static lifetime, as that of `Failed::why`
  std::uint32_t number;
  float budget_left;
  policy::UpstreamAddress address;
  std::int16_t status;  ///< status of the response; 0 if the attempt failed
  policy::Stage stage;
  policy::Cause cause;
  policy::Reason reason;
  std::optional<policy::GrpcStatus> grpc;
  bool retry, reused, may_have_sent, said_no, from_reprise, body_listed, http2, unprocessed, never_existed;
};

static_assert(std::is_trivially_copyable_v<StoredRequest> && std::is_trivially_copyable_v<StoredAttempt>);
static_assert(sizeof(StoredRequest) % 8 == 0 && sizeof(StoredAttempt) % 8 == 0);
static_assert(sizeof(StoredRequest) <= 88, "every request that is kept takes this much of limits.stories");
static_assert(first_attempts_shown + last_attempts_shown <= std::numeric_limits<std::uint8_t>::max());

StoredAttempt stored(const policy::LedgerEntry& entry, policy::Instant begun) {
  StoredAttempt to{};
  to.number = entry.attempt.number;
  to.reused = entry.attempt.reused;
  to.may_have_sent = entry.attempt.sent == policy::Sent::maybe;
  to.address = entry.address;
  to.sent_bytes = entry.sent_bytes;
  to.http2 = entry.http2;
  to.queued = entry.queued.count();
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
  if (const auto* responded = std::get_if<policy::Responded>(&entry.outcome)) {
    to.status = static_cast<std::int16_t>(responded->status);
    if (responded->hints.retry_after) to.hint = responded->hints.retry_after->count();
    to.said_no = responded->hints.said_no;
    to.from_reprise = responded->hints.from_reprise;
    to.body_listed = responded->body_listed;
    to.grpc = responded->grpc;
  } else {
    const auto& failed = std::get<policy::Failed>(entry.outcome);
    to.stage = failed.stage;
    to.cause = failed.cause;
    to.reset_code = policy::reset_code(failed);
    to.unprocessed = failed.unprocessed;
    to.never_existed = failed.never_existed;
  }
  return to;
}

HistoryAttempt decoded(const StoredAttempt& from) {
  HistoryAttempt to;
  to.number = from.number;
  to.reused = from.reused;
  to.may_have_sent = from.may_have_sent;
  to.address = from.address;
  to.sent_bytes = from.sent_bytes;
  to.http2 = from.http2;
  to.queued = policy::Duration(from.queued);
  to.started = policy::Duration(from.started);
  to.ended = policy::Duration(from.ended);
  to.wait = policy::Duration(from.wait);
  to.verdict = {from.retry, policy::Duration(from.delay), from.reason};
  to.bounds = {policy::Duration(from.lowest), policy::Duration(from.highest)};
  to.budget_left = from.budget_left;
  if (from.status == 0) {
    policy::Failed failed{from.stage, from.cause};
    failed.why = from.reset_code;
    failed.unprocessed = from.unprocessed;
    failed.never_existed = from.never_existed;
    to.outcome = failed;
    return to;
  }
  policy::Responded responded{from.status, {}, from.body_listed};
  if (from.hint >= 0) responded.hints.retry_after = policy::Duration(from.hint);
  responded.hints.said_no = from.said_no;
  responded.hints.from_reprise = from.from_reprise;
  responded.grpc = from.grpc;
  to.outcome = responded;
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

EncodedEntry::EncodedEntry(const ExchangeRecord& record, bool path)
    : record_(record),
      left_out_(attempts_left_out(record.ledger->size())),
      attempts_(record.ledger->size() - left_out_),
      bytes_(sizeof(StoredRequest) + attempts_ * sizeof(StoredAttempt)) {
  ExchangeTexts<std::string_view> texts = record;
  if (!path) texts.path = {};
  const auto all = pointers_to(texts);
  for (std::size_t i = 0; i < exchange_text_count; ++i) {
    texts_[i] = clipped(*all[i]);
    bytes_ += texts_[i].size();
  }
  bytes_ = (bytes_ + 7) / 8 * 8;
}

void EncodedEntry::put(std::byte* at) const {
  StoredRequest request{.bytes = static_cast<std::uint16_t>(bytes_),
                        .attempts = static_cast<std::uint8_t>(attempts_),
                        .recovered = is_recovered(record_),
                        .left_out = static_cast<std::uint32_t>(left_out_),
                        .numbers = record_,
                        .lengths = {},
                        .conclusion = *record_.ledger};
  for (std::size_t i = 0; i < exchange_text_count; ++i)
    request.lengths[i] = static_cast<std::uint16_t>(texts_[i].size());
  at = put_attempts(telemetry::put(at, request), record_, left_out_);
  for (const std::string_view text : texts_) {
    // Does not use memcpy, because the data pointer of an empty view may be null.
    const auto bytes = std::as_bytes(std::span(text));
    at = std::copy(bytes.begin(), bytes.end(), at);
  }
}

std::size_t entry_bytes_at(const std::byte* from) { return get<std::uint16_t>(from); }

std::uint64_t entry_number_at(const std::byte* from) { return get<StoredRequest>(from).numbers.number; }

std::string_view entry_request_id_at(const std::byte* from) {
  const auto request = get<StoredRequest>(from);
  const std::byte* text = from + sizeof request + request.attempts * sizeof(StoredAttempt);
  for (std::size_t i = 0; i < request_id_place; ++i) text += request.lengths[i];
  return {reinterpret_cast<const char*>(text), request.lengths[request_id_place]};
}

HistoryEntry decoded_entry(const std::byte* from) {
  const auto request = get<StoredRequest>(from);
  from += sizeof request;
  HistoryEntry story;
  static_cast<ExchangeNumbers&>(story) = request.numbers;
  static_cast<policy::Conclusion&>(story) = request.conclusion;
  story.recovered = request.recovered;
  story.attempts_left_out = request.left_out;
  story.attempts_before_the_gap = request.left_out > 0 ? first_attempts_shown : 0;
  story.attempts.reserve(request.attempts);
  for (std::uint32_t i = 0; i < request.attempts; ++i, from += sizeof(StoredAttempt))
    story.attempts.push_back(decoded(get<StoredAttempt>(from)));
  const auto texts = pointers_to(story);
  for (std::size_t i = 0; i < exchange_text_count; ++i) {
    texts[i]->assign(reinterpret_cast<const char*>(from), request.lengths[i]);
    from += request.lengths[i];
  }
  return story;
}

}  // namespace reprise::telemetry
