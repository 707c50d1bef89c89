#include "proxy/telemetry/log/text_line.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <variant>

#include "proxy/telemetry/log/grpc_call.hpp"
#include "proxy/telemetry/log/json_text.hpp"
#include "proxy/telemetry/log/line_parts.hpp"

namespace reprise::telemetry {
namespace {

// Escape sequences of ECMA-48, "select graphic rendition".
constexpr std::string_view dim = "\x1b[2m";
constexpr std::string_view red = "\x1b[31m";
constexpr std::string_view green = "\x1b[32m";
constexpr std::string_view yellow = "\x1b[33m";
constexpr std::string_view plain = "\x1b[0m";

// Appends to a line, with or without colour.
class Pen {
 public:
  Pen(std::string& out, bool colour) : out_(out), colour_(colour) {}

  void put(std::string_view text) { out_ += text; }
  void put(std::string_view text, std::string_view colour) {
    if (colour_) out_ += colour;
    out_ += text;
    if (colour_) out_ += plain;
  }

 private:
  std::string& out_;
  const bool colour_;
};

std::string_view colour_of(int status) {
  if (status == 0 || status >= 500) return red;
  return status >= 400 ? yellow : green;
}

std::string_view colour_of(int status, const std::optional<policy::GrpcStatus>& grpc) {
  if (status != 200 || !grpc) return colour_of(status);
  if (is_server_error(*grpc)) return red;
  return *grpc == policy::GrpcStatus::ok ? green : yellow;
}

std::string span_text(policy::Duration span) {
  std::string text;
  append_span(text, span);
  return text;
}

std::string visible(std::string_view value) {
  std::string text;
  append_visible(text, value);
  return text;
}

// Returns the target as the client sees it: no scheme, and no port if the port is the scheme's default.
std::string target_of(const ExchangeRecord& record, std::string_view route, config::LogPath path) {
  const std::string url = url_of(record, route, path);
  return visible(std::string_view(url).substr(record.tunnel ? 0 : url.find("//") + 2));
}

std::string failure_text(const policy::Failed& failed) {
  std::string text(policy::word(failed.cause));
  if (const std::string_view code = policy::reset_code(failed); !code.empty())
    text.append("(").append(code).append(")");
  return text;
}

std::string outcome_text(const policy::Outcome& outcome) {
  if (const auto* failed = std::get_if<policy::Failed>(&outcome)) return failure_text(*failed);
  const auto& responded = std::get<policy::Responded>(outcome);
  return status_text(responded.status, responded.grpc);
}

std::string_view colour_of(const policy::Outcome& outcome) {
  const auto* responded = std::get_if<policy::Responded>(&outcome);
  return responded == nullptr ? red : colour_of(responded->status, responded->grpc);
}

// Returns false for a single attempt whose response the client got, because the status shows that already.
bool shows_attempts(const ExchangeRecord& record) {
  const policy::Ledger& ledger = *record.ledger;
  if (ledger.size() != 1) return ledger.size() > 1;
  const auto* responded = std::get_if<policy::Responded>(&ledger[0].outcome);
  if (responded == nullptr || responded->status != record.status) return true;
  return responded->grpc && responded->grpc != record.grpc;
}

void put_attempts(Pen& pen, const policy::Ledger& ledger) {
  const std::size_t left_out = attempts_left_out(ledger.size());
  pen.put(" ");
  for (std::size_t i = 0; i < ledger.size(); ++i) {
    if (left_out > 0 && i == first_attempts_shown) {
      pen.put(fmt::format(" ...{} more...", left_out), dim);
      i += left_out;
    }
    const policy::LedgerEntry& entry = ledger[i];
    if (entry.attempt.wait > policy::Duration::zero()) {
      pen.put(fmt::format(" ~{}~", span_text(entry.attempt.wait)), dim);
    }
    pen.put(" ");
    pen.put(outcome_text(entry.outcome), colour_of(entry.outcome));
  }
}

void put_ending(Pen& pen, const ExchangeRecord& record) {
  const policy::Reason reason = record.ledger->reason;
  if (is_recovered(record)) {
    pen.put("  ");
    pen.put("recovered", green);
  }
  if (reason != policy::Reason::success) {
    pen.put("  ");
    pen.put(policy::word(reason), is_exhausted(reason) ? red : yellow);
  }
  if (record.ending == Ending::cut) {
    pen.put("  ");
    pen.put("cut", red);
  }
  if (record.ending == Ending::client_gone && reason != policy::Reason::client_gone) {
    pen.put("  ");
    pen.put("client_gone", yellow);
  }
  const policy::HedgeOutcome hedge = record.ledger->hedge;
  if (hedge != policy::HedgeOutcome::none && hedge != policy::HedgeOutcome::refused) {
    pen.put("  ");
    pen.put(fmt::format("hedge {}", policy::word(hedge)), hedge == policy::HedgeOutcome::won ? green : dim);
  }
  if (record.ledger->ambiguous) {
    pen.put("  ");
    pen.put("ambiguous", yellow);
  }
}

}  // namespace

void write_text_line(const ExchangeRecord& record, std::string_view route, config::LogPath path,
                     LogReader reader, std::string& out) {
  Pen pen(out, reader == LogReader::terminal);
  if (reader != LogReader::journal) {
    std::string time;
    append_clock(time, record.ended_wall);
    pen.put(time, dim);
    pen.put(" ");
  }
  pen.put(visible(clipped(record.method)));
  pen.put(" ");
  pen.put(target_of(record, route, path));
  pen.put(" ");
  pen.put(record.status == 0 ? "-" : status_text(record.status, record.grpc),
          colour_of(record.status, record.grpc));
  pen.put(" in ");
  pen.put(span_text(record.took));
  if (is_tunnel(record)) pen.put(fmt::format("  tunnel ({})", word(record.carried)), dim);
  if (shows_attempts(record)) put_attempts(pen, *record.ledger);
  put_ending(pen, record);
  if (!record.id.empty()) {
    pen.put("  ");
    pen.put(record.id, dim);
  }
  if (!record.client.empty()) {
    pen.put("  ");
    pen.put(fmt::format("from {}", record.client), dim);
  }
  pen.put("\n");
}

void write_exhausted_text(const ExchangeRecord& record, std::string_view route, config::LogPath path,
                          LogReader reader, std::string& out) {
  const policy::Ledger& ledger = *record.ledger;
  if (reader != LogReader::journal) {
    append_clock(out, record.ended_wall);
    out += ' ';
  }
  fmt::format_to(std::back_inserter(out),
                 "error: retries exhausted: {} {}: {} attempt{} in {}, last {}, limit {}\n",
                 visible(clipped(record.method)), visible(url_of(record, route, path)), ledger.size(),
                 ledger.size() == 1 ? "" : "s", span_text(record.took), outcome_text(ledger.back().outcome),
                 policy::word(ledger.reason));
}

void write_text_message(config::LogLevel level, std::string_view text, std::int64_t wall, LogReader reader,
                        std::string& out) {
  if (reader != LogReader::journal) {
    append_clock(out, wall);
    out += ' ';
  }
  out += word(level);
  out += ": ";
  append_visible(out, text);
  out += '\n';
}

}  // namespace reprise::telemetry
