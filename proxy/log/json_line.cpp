#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "proxy/log/access_log.hpp"
#include "proxy/log/json_members.hpp"
#include "proxy/log/line_parts.hpp"

namespace reprise::observe {
namespace {

template <typename Out>
void append_opening(Out& out, std::int64_t wall, config::LogLevel level) {
  out += "{\"time\":\"";
  out += timestamp(wall);
  out += '"';
  word_member(out, "level", word(level));
}

void append_attempt(Line& out, const policy::LedgerEntry& entry) {
  out += "{\"n\":";
  append_number(out, std::uint64_t{entry.attempt.number});
  if (entry.address.known()) word_member(out, "upstream", text_of(entry.address));
  if (const auto* failed = std::get_if<policy::Failed>(&entry.outcome)) {
    word_member(out, "stage", policy::word(failed->stage));
    word_member(out, "error", policy::word(failed->cause));
  } else {
    name_member(out, "status");
    append_number(out, std::int64_t{std::get<policy::Answered>(entry.outcome).status});
  }
  span_member(out, "ms", entry.ended - entry.started);
  span_member(out, "wait_ms", entry.attempt.wait);
  word_member(out, "reason", policy::word(entry.verdict.reason));
  if (entry.verdict.reason == policy::Reason::observe_only) {
    span_member(out, "would_wait_ms", entry.verdict.delay);
  }
  name_member(out, "reused");
  out += entry.attempt.reused ? "true}" : "false}";
}

void append_attempts(Line& out, const policy::Ledger& ledger) {
  const std::size_t left_out = attempts_left_out(ledger.size());
  name_member(out, "attempts");
  out += '[';
  for (std::size_t i = 0; i < ledger.size(); ++i) {
    if (left_out > 0 && i == first_attempts_shown) i += left_out;
    if (i > 0) out += ',';
    append_attempt(out, ledger[i]);
  }
  out += ']';
  if (left_out > 0) number_member(out, "attempts_left_out", left_out);
}

void append_hedge(Line& out, const policy::Ledger& ledger) {
  if (ledger.hedge == policy::HedgeOutcome::none) return;
  word_member(out, "hedge", policy::word(ledger.hedge));
  if (ledger.hedge == policy::HedgeOutcome::refused) {
    word_member(out, "hedge_refused", policy::word(ledger.hedge_refusal));
  }
}

template <typename Out>
void append_ids(Out& out, const ExchangeRecord& record) {
  if (!record.id.empty()) word_member(out, "id", record.id);
  // A request that its client has not named is called by our name for it.
  if (const std::string_view named = record.request_id.empty() ? record.id : record.request_id;
      !named.empty())
    text_member(out, "request_id", clipped(named));
  if (!record.trace_id.empty()) text_member(out, "trace_id", clipped(record.trace_id));
}

}  // namespace

void write_json_line(const ExchangeRecord& record, std::string_view route, config::LogPath path,
                     std::int64_t wall, Line& out) {
  append_opening(out, wall, config::LogLevel::info);
  text_member(out, "route", route);
  if (!record.client.empty()) text_member(out, "client", record.client);
  text_member(out, "method", clipped(record.method));
  text_member(out, "host", clipped(record.host));
  if (record.port != 0) number_member(out, "port", record.port);
  if (path == config::LogPath::route) {
    text_member(out, "path", route);
  } else if (!record.path.empty()) {
    text_member(out, "path", clipped(record.path));
  }
  name_member(out, "status");
  if (record.status == 0) {
    out += "null";
  } else {
    append_number(out, std::int64_t{record.status});
  }
  word_member(out, "ending", word(record.ending));
  word_member(out, "reason", policy::word(record.ledger->reason));
  append_attempts(out, *record.ledger);
  number_member(out, "request_bytes", record.request_bytes);
  number_member(out, "response_bytes", record.response_bytes);
  span_member(out, "ms", record.ended - record.started);
  if (record.ledger->ambiguous) out += ",\"ambiguous\":true";
  append_hedge(out, *record.ledger);
  if (record.tunnel || is_tunnel(record)) out += ",\"tunnel\":true";
  if (is_tunnel(record)) word_member(out, "carried", word(record.carried));
  append_ids(out, record);
  out += "}\n";
}

void write_exhausted_json(const ExchangeRecord& record, std::string_view route, config::LogPath path,
                          std::int64_t wall, std::string& out) {
  append_opening(out, wall, config::LogLevel::error);
  word_member(out, "message", "retries exhausted");
  text_member(out, "route", route);
  text_member(out, "method", clipped(record.method));
  text_member(out, "url", url_of(record, route, path));
  number_member(out, "attempts", record.ledger->size());
  span_member(out, "elapsed_ms", record.ended - record.started);
  const policy::Outcome& last = record.ledger->back().outcome;
  if (const auto* failed = std::get_if<policy::Failed>(&last)) {
    word_member(out, "last_stage", policy::word(failed->stage));
    word_member(out, "last_error", policy::word(failed->cause));
  } else {
    name_member(out, "last_status");
    append_number(out, std::int64_t{std::get<policy::Answered>(last).status});
  }
  word_member(out, "limit", policy::word(record.ledger->reason));
  append_ids(out, record);
  out += "}\n";
}

}  // namespace reprise::observe
