#include "proxy/forward/exchange/record.hpp"

#include "proxy/forward/exchange/unread.hpp"
#include "proxy/telemetry/log/json_text.hpp"
#include "proxy/telemetry/log/line_parts.hpp"
#include "proxy/telemetry/tracing/sampling.hpp"

namespace reprise::forward {
namespace {

std::string_view value_of(const http::RequestHead& head, std::string_view name) {
  const http::FieldLine* const field = head.find(name);
  return field == nullptr ? std::string_view() : field->value;
}

bool is_lower_hex(std::string_view text) {
  return text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

// Returns the part `version-trace_id-parent_id-flags` of a traceparent (W3C Trace Context 2.2). In version 00
// nothing may follow that part. Returns an empty text if the traceparent is malformed.
std::string_view well_formed(std::string_view traceparent) {
  constexpr std::size_t length = 55;
  if (traceparent.size() < length || (traceparent.size() > length && traceparent.starts_with("00")))
    return {};
  const std::string_view text = traceparent.substr(0, length);
  const bool parted = text[2] == '-' && text[35] == '-' && text[52] == '-';
  const bool hex = is_lower_hex(text.substr(0, 2)) && is_lower_hex(text.substr(3, 32)) &&
                   is_lower_hex(text.substr(36, 16)) && is_lower_hex(text.substr(53));
  const bool named = text.substr(3, 32).find_first_not_of('0') != std::string_view::npos &&
                     text.substr(36, 16).find_first_not_of('0') != std::string_view::npos;
  return parted && hex && named && !text.starts_with("ff") ? text : std::string_view();
}

}  // namespace

void record(Worker& worker, const Request& request, const Served& served) {
  const Incoming& in = request.in;
  const Route& route = request.route;
  const TunnelRequest* const tunnel = request.tunnel();
  telemetry::ExchangeRecord exchange;
  exchange.route = static_cast<std::uint32_t>(route.snapshot->counted_as[route.number]);
  exchange.client = in.client;
  exchange.method = in.view.method;
  exchange.host = in.view.host;
  exchange.port = route.upstream->port;
  exchange.over_tls = route.upstream->tls != nullptr;
  exchange.path = tunnel != nullptr ? std::string_view() : in.view.path;
  exchange.ending = served.ending;
  exchange.status = served.status;
  exchange.idempotent = route.facts.idempotent == policy::Idempotency::yes;
  exchange.no_store = route.facts.no_store;
  exchange.own_response = served.own_response;
  exchange.request_bytes = request.out.body.received() + served.request_bytes;
  exchange.response_bytes = served.response_bytes;
  exchange.started = in.started;
  exchange.took = net::Tick::now() - in.started;
  exchange.ledger = &request.ledger();
  exchange.upstream = route.upstream->cells;
  exchange.tunnel = tunnel != nullptr;
  exchange.http2 = in.head.over_http2;
  exchange.is_call = in.view.is_call;
  exchange.grpc = served.grpc;
  exchange.carried = served.carried;
  exchange.can_intercept =
      served.carried == telemetry::Carried::tls && tunnel != nullptr && can_intercept(*tunnel);
  exchange.number = request.number;
  worker.shared.metrics.count(exchange);
  if (worker.shared.observer) worker.shared.observer(exchange);
  const config::Log log = worker.shared.log.settings();
  const bool exhausted = policy::is_exhausted(request.ledger().reason);
  const bool kept = worker.histories != nullptr && request.number != 0;
  const config::Trace& trace = route.snapshot->settings.trace;
  const bool traced = trace.otlp.has_value() && worker.spans != nullptr;
  // Requests whose retries were exhausted are logged even if `log.access` is off (row L15, clause R24).
  if (!kept && !traced && !log.access && !exhausted) return;
  exchange.traceparent = well_formed(value_of(in.head, "traceparent"));
  exchange.request_id = value_of(in.head, "X-Request-Id");
  exchange.ended_wall = net::Clock::wall_nanoseconds();
  const bool path = log.path == config::LogPath::full;
  if (kept) worker.histories->keep(exchange, path);
  if (traced)
    telemetry::offer_spans(*worker.spans, worker.shared.metrics, exchange, path, trace.sample, worker.dice);
  if (!log.access && !exhausted) return;
  std::string id;
  if (kept) worker.shared.histories->append_id(id, request.number);
  exchange.id = id;
  if (!exchange.traceparent.empty()) exchange.trace_id = exchange.traceparent.substr(3, 32);
  worker.shared.log.access(exchange);
}

std::string outcome_text(const policy::LedgerEntry& entry) {
  std::string text;
  if (const auto* responded = std::get_if<policy::Responded>(&entry.outcome)) {
    text.append(std::to_string(responded->status));
  } else {
    const auto& failed = std::get<policy::Failed>(entry.outcome);
    text.append(policy::word(failed.stage)).append(" ").append(policy::cause_text(failed));
  }
  return text.append(", ").append(policy::word(entry.verdict.reason));
}

// Logs a line such as `GET example.com/v1/x: attempt 1: 503, retryable_status, again in 229ms`.
void log_decision(Worker& worker, const Request& request, const policy::LedgerEntry& entry) {
  const config::Log settings = worker.shared.log.settings();
  if (settings.level < config::LogLevel::debug) return;
  const policy::RequestView& view = request.in.view;
  std::string text(telemetry::clipped(view.method));
  text.append(" ").append(telemetry::clipped(view.host));
  if (settings.path == config::LogPath::full && request.tunnel() == nullptr)
    text.append(telemetry::clipped(view.path));
  text.append(": attempt ")
      .append(std::to_string(entry.attempt.number))
      .append(": ")
      .append(outcome_text(entry));
  const bool would_retry = entry.verdict.reason == policy::Reason::observe_only;
  if (entry.verdict.reason == policy::Reason::hedged) {
    text.append(" after ");
    telemetry::append_span(text, entry.verdict.delay);
  } else if (entry.verdict.retry || would_retry) {
    text.append(would_retry ? ", would be retried in " : ", retry in ");
    telemetry::append_span(text, entry.verdict.delay);
  }
  worker.shared.log.message(config::LogLevel::debug, text, net::Clock::wall_nanoseconds());
}

void log_rejection(Worker& worker, const Request& request, const http::Reply& reply, http::Rejection cause) {
  if (worker.shared.log.settings().level < config::LogLevel::info) return;
  std::string text = "rejected " + std::to_string(reply.status) + " " + std::string(http::word(cause)) + ":";
  const Incoming& in = request.in;
  const TunnelRequest* const tunnel = request.tunnel();
  if (!in.head.method.empty()) text.append(" ").append(telemetry::clipped(in.head.method));
  if (in.head.method.empty() && tunnel != nullptr) text.append(" CONNECT");
  const std::string target = tunnel != nullptr ? tunnel->authority : http::named_target(in.head);
  if (!target.empty()) text.append(" to ").append(telemetry::clipped(target));
  text.append(" from ").append(in.client).append(" at ").append(in.listener);
  text.append(". ").append(http::sentence(cause));
  worker.shared.log.message(config::LogLevel::info, text, net::Clock::wall_nanoseconds());
}

}  // namespace reprise::forward
