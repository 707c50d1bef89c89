#include "proxy/exchange/record.hpp"

#include "proxy/match/ascii.hpp"
#include "proxy/observe/json_text.hpp"
#include "proxy/observe/line_parts.hpp"

namespace reprise::net {
namespace {

std::string_view value_of(const http::RequestHead& head, std::string_view name) {
  for (const http::FieldLine& field : head.fields) {
    if (policy::equals_ignoring_case(field.name, name)) return field.value;
  }
  return {};
}

// version "-" trace-id "-" parent-id "-" flags (W3C Trace Context 2.2)
std::string_view trace_id(std::string_view traceparent) {
  constexpr std::size_t offset = 3;
  constexpr std::size_t length = 32;
  if (traceparent.size() < offset + length || traceparent[offset - 1] != '-') return {};
  return traceparent.substr(offset, length);
}

}  // namespace

void record(Worker& worker, const Request& request, const Served& served) {
  observe::ExchangeRecord exchange;
  exchange.route = request.snapshot->counted_as[request.route];
  exchange.client = request.client;
  exchange.method = request.view.method;
  exchange.host = request.view.host;
  exchange.port = request.upstream->port;
  exchange.over_tls = request.upstream->tls != nullptr;
  exchange.path = request.is_connect() ? std::string_view() : request.view.path;
  exchange.ending = served.ending;
  exchange.status = served.status;
  exchange.own_response = served.own_response;
  exchange.request_bytes = request.body.received() + served.request_bytes;
  exchange.response_bytes = served.response_bytes;
  exchange.started = request.started;
  exchange.ended = Tick::now();
  exchange.ledger = &request.ledger();
  exchange.upstream = request.upstream->cells;
  exchange.tunnel = request.is_connect();
  worker.shared.metrics.count(exchange);
  if (worker.shared.witness) worker.shared.witness(exchange);
  // Whoever wants no access lines is still told what was given up (row L15, clause R24).
  if (!worker.shared.log.settings().access && !policy::is_exhausted(request.ledger().reason)) return;
  exchange.trace_id = trace_id(value_of(request.head, "traceparent"));
  exchange.request_id = value_of(request.head, "X-Request-Id");
  worker.shared.log.access(exchange, Clock::wall_nanoseconds());
}

std::string outcome_text(const policy::LedgerEntry& entry) {
  std::string text;
  if (const auto* answered = std::get_if<policy::Answered>(&entry.outcome)) {
    text.append(std::to_string(answered->status));
  } else {
    const auto& failed = std::get<policy::Failed>(entry.outcome);
    text.append(policy::word(failed.stage)).append(" ").append(policy::word(failed.cause));
  }
  return text.append(", ").append(policy::word(entry.verdict.reason));
}

// `GET example.com/v1/x: attempt 1: 503, retryable_status, again in 229ms`
void narrate(Worker& worker, const Request& request, const policy::LedgerEntry& entry) {
  const config::Log settings = worker.shared.log.settings();
  if (settings.level < config::LogLevel::debug) return;
  std::string text(observe::clipped(request.view.method));
  text.append(" ").append(observe::clipped(request.view.host));
  if (settings.path == config::LogPath::full && !request.is_connect())
    text.append(observe::clipped(request.view.path));
  text.append(": attempt ")
      .append(std::to_string(entry.attempt.number))
      .append(": ")
      .append(outcome_text(entry));
  const bool would_retry = entry.verdict.reason == policy::Reason::observe_only;
  if (entry.verdict.reason == policy::Reason::hedged) {
    text.append(" after ");
    observe::append_span(text, entry.verdict.delay);
  } else if (entry.verdict.retry || would_retry) {
    text.append(would_retry ? ", would be sent again in " : ", again in ");
    observe::append_span(text, entry.verdict.delay);
  }
  worker.shared.log.message(config::LogLevel::debug, text, Clock::wall_nanoseconds());
}

void log_rejection(Worker& worker, const Request& request, const http::Reply& reply, http::Rejection cause) {
  if (worker.shared.log.settings().level < config::LogLevel::info) return;
  std::string text = "rejected " + std::to_string(reply.status) + " " + std::string(http::word(cause)) + ":";
  if (!request.head.method.empty()) text.append(" ").append(observe::clipped(request.head.method));
  if (const std::string target = http::named_target(request.head); !target.empty())
    text.append(" to ").append(observe::clipped(target));
  text.append(" from ").append(request.client).append(" at ").append(request.listener);
  text.append(". ").append(http::sentence(cause));
  worker.shared.log.message(config::LogLevel::info, text, Clock::wall_nanoseconds());
}

}  // namespace reprise::net
