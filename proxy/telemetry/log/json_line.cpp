#include "proxy/telemetry/log/json_line.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "proxy/policy/match/grpc_pattern.hpp"
#include "proxy/telemetry/log/field_writer.hpp"
#include "proxy/telemetry/log/grpc_call.hpp"
#include "proxy/telemetry/log/line_parts.hpp"

namespace reprise::telemetry {
namespace {

template <Dialect dialect, typename Out>
void append_opening(Out& out, std::int64_t wall, config::LogLevel level) {
  FieldWriter<dialect, Out> to(out);
  to.template first<Field::time>();
  out += '"';
  out += timestamp(wall);
  out += '"';
  to.template word<Field::level>(word(level));
}

// Writes an address whose text includes its port. In a dialect with a separate field for the port, writes two
// fields.
template <Dialect dialect, Field address, Field port>
void append_endpoint(Line& out, std::string_view text) {
  FieldWriter<dialect, Line> to(out);
  if constexpr (has_field<dialect, port>) {
    const HostAndPort parts = parts_of(text);
    to.template text<address>(parts.host);
    if (parts.port != 0) to.template number<port>(parts.port);
  } else {
    to.template text<address>(text);
  }
}

// Writes the status of a gRPC call: its word, or in a dialect with a field for the code, its code.
template <Dialect dialect, Field as_word, Field as_code, typename Out>
void append_grpc(Out& out, policy::GrpcStatus status) {
  FieldWriter<dialect, Out> to(out);
  if constexpr (has_field<dialect, as_code>) {
    to.template number<as_code>(static_cast<std::uint64_t>(status));
  } else {
    to.template word<as_word>(policy::word(status));
  }
}

// Writes the response of an attempt.
template <Dialect dialect, Field status, Field as_word, Field as_code, typename Out>
void append_response(Out& out, const policy::Responded& responded) {
  FieldWriter<dialect, Out>(out).template name<status>();
  append_number(out, std::int64_t{responded.status});
  if (responded.grpc) append_grpc<dialect, as_word, as_code>(out, *responded.grpc);
}

template <Dialect dialect>
void append_attempt(Line& out, const policy::LedgerEntry& entry) {
  FieldWriter<dialect, Line> to(out);
  to.template first<Field::number>();
  append_number(out, std::uint64_t{entry.attempt.number});
  if constexpr (has_field<dialect, Field::resend_count>) {
    if (entry.attempt.number > 1) to.template number<Field::resend_count>(entry.attempt.number - 1);
  }
  if (entry.address.known())
    append_endpoint<dialect, Field::upstream, Field::upstream_port>(out, text_of(entry.address));
  if (entry.http2) to.template word<Field::http_version>("2");
  if (const auto* failed = std::get_if<policy::Failed>(&entry.outcome)) {
    to.template word<Field::stage>(policy::word(failed->stage));
    to.template word<Field::error>(policy::word(failed->cause));
    if (const std::string_view code = policy::reset_code(*failed); !code.empty())
      to.template word<Field::reset_code>(code);
  } else {
    append_response<dialect, Field::attempt_status, Field::attempt_grpc, Field::attempt_grpc_code>(
        out, std::get<policy::Responded>(entry.outcome));
  }
  to.template span<Field::attempt_took>(entry.ended - entry.started);
  to.template span<Field::wait>(entry.attempt.wait);
  if (entry.queued > policy::Duration::zero()) to.template span<Field::queued>(entry.queued);
  to.template word<Field::attempt_reason>(policy::word(entry.verdict.reason));
  if (entry.verdict.reason == policy::Reason::observe_only)
    to.template span<Field::would_wait>(entry.verdict.delay);
  to.template flag<Field::reused>(entry.attempt.reused);
  out += '}';
}

template <Dialect dialect>
void append_attempts(Line& out, const policy::Ledger& ledger) {
  FieldWriter<dialect, Line> to(out);
  const std::size_t left_out = attempts_left_out(ledger.size());
  if constexpr (has_field<dialect, Field::attempt_count>)
    to.template number<Field::attempt_count>(ledger.size());
  to.template name<Field::attempts>();
  out += '[';
  for (std::size_t i = 0; i < ledger.size(); ++i) {
    if (left_out > 0 && i == first_attempts_shown) i += left_out;
    if (i > 0) out += ',';
    append_attempt<dialect>(out, ledger[i]);
  }
  out += ']';
  if (left_out > 0) to.template number<Field::attempts_left_out>(left_out);
}

template <Dialect dialect>
void append_hedge(Line& out, const policy::Ledger& ledger) {
  if (ledger.hedge == policy::HedgeOutcome::none) return;
  FieldWriter<dialect, Line> to(out);
  to.template word<Field::hedge>(policy::word(ledger.hedge));
  if (ledger.hedge == policy::HedgeOutcome::refused)
    to.template word<Field::hedge_refused>(policy::word(ledger.hedge_refusal));
}

template <Dialect dialect, typename Out>
void append_method(Out& out, std::string_view method) {
  FieldWriter<dialect, Out> to(out);
  if constexpr (has_field<dialect, Field::method_original>) {
    if (!is_known_method(method)) {
      to.template word<Field::method>("_OTHER");
      to.template text<Field::method_original>(clipped(method));
      return;
    }
  }
  to.template text<Field::method>(clipped(method));
}

template <Dialect dialect, typename Out>
void append_ids(Out& out, const ExchangeRecord& record) {
  FieldWriter<dialect, Out> to(out);
  if (!record.id.empty()) to.template word<Field::id>(record.id);
  // A request without X-Request-Id is identified by its id in the request history.
  if (const std::string_view named = record.request_id.empty() ? record.id : record.request_id;
      !named.empty())
    to.template text<Field::request_id>(clipped(named));
  if (!record.trace_id.empty()) to.template text<Field::trace_id>(clipped(record.trace_id));
}

template <Dialect dialect>
void append_status(Line& out, const ExchangeRecord& record) {
  FieldWriter<dialect, Line> to(out);
  if constexpr (dialect == Dialect::own) {
    to.template name<Field::status>();
    if (record.status == 0) {
      out += "null";
    } else {
      append_number(out, std::int64_t{record.status});
    }
  } else {
    if (record.status != 0) to.template number<Field::status>(static_cast<std::uint64_t>(record.status));
    if (record.grpc) to.template number<Field::rpc_status>(static_cast<std::uint64_t>(*record.grpc));
    if (record.ending != Ending::complete) {
      to.template word<Field::error_type>(word(record.ending));
    } else if (record.grpc && is_server_error(*record.grpc)) {
      to.template word<Field::error_type>(policy::word(*record.grpc));
    } else if (record.status >= 500) {
      to.template word<Field::error_type>(std::to_string(record.status));
    }
  }
}

template <Dialect dialect>
void append_target(Line& out, const ExchangeRecord& record, std::string_view route, config::LogPath path) {
  FieldWriter<dialect, Line> to(out);
  to.template text<Field::host>(clipped(record.host));
  if (record.port != 0) to.template number<Field::port>(record.port);
  if constexpr (has_field<dialect, Field::scheme>) {
    if (!record.tunnel) to.template word<Field::scheme>(record.over_tls ? "https" : "http");
  }
  if (path == config::LogPath::route) {
    to.template text<Field::path>(route);
  } else if (!record.path.empty()) {
    to.template text<Field::path>(clipped(record.path));
  }
}

// Writes the members of a call that the object `grpc` has. The opening brace is written before the first.
template <Dialect dialect>
void append_call_object(Line& out, const ExchangeRecord& record, const policy::CallName& name) {
  FieldWriter<dialect, Line> to(out);
  to.template name<Field::call>();
  if (!name.service.empty()) {
    to.template first<Field::call_service>();
    append_json(out, clipped(name.service));
    to.template text<Field::call_method>(clipped(name.method));
    if (record.grpc) to.template word<Field::call_status>(policy::word(*record.grpc));
  } else if (record.grpc) {
    to.template first<Field::call_status>();
    append_json(out, policy::word(*record.grpc));
  } else {
    out += '{';
  }
  out += '}';
}

template <Dialect dialect>
void append_call(Line& out, const ExchangeRecord& record, config::LogPath path) {
  const policy::CallName name =
      path == config::LogPath::route ? policy::CallName{} : policy::call_name(record.path);
  if constexpr (has_field<dialect, Field::call>) {
    append_call_object<dialect>(out, record, name);
  } else {
    FieldWriter<dialect, Line> to(out);
    to.template word<Field::rpc_system>("grpc");
    if (name.service.empty()) return;
    to.template text<Field::rpc_service>(clipped(name.service));
    to.template text<Field::rpc_method>(clipped(name.method));
  }
}

template <Dialect dialect>
void write_line(const ExchangeRecord& record, std::string_view route, config::LogPath path, Line& out) {
  FieldWriter<dialect, Line> to(out);
  append_opening<dialect>(out, record.ended_wall, config::LogLevel::info);
  to.template text<Field::route>(route);
  if (!record.client.empty()) append_endpoint<dialect, Field::client, Field::client_port>(out, record.client);
  append_method<dialect>(out, record.method);
  if (record.http2) to.template word<Field::client_http_version>("2");
  append_target<dialect>(out, record, route, path);
  if (record.is_call) append_call<dialect>(out, record, path);
  append_status<dialect>(out, record);
  to.template word<Field::ending>(word(record.ending));
  to.template word<Field::reason>(policy::word(record.ledger->reason));
  append_attempts<dialect>(out, *record.ledger);
  to.template number<Field::request_bytes>(record.request_bytes);
  to.template number<Field::response_bytes>(record.response_bytes);
  to.template span<Field::took>(record.took);
  if (record.ledger->ambiguous) to.template flag<Field::ambiguous>(true);
  append_hedge<dialect>(out, *record.ledger);
  if (record.tunnel || is_tunnel(record)) to.template flag<Field::tunnel>(true);
  if (is_tunnel(record)) to.template word<Field::carried>(word(record.carried));
  append_ids<dialect>(out, record);
  out += "}\n";
}

template <Dialect dialect>
void write_exhausted(const ExchangeRecord& record, std::string_view route, config::LogPath path,
                     std::string& out) {
  FieldWriter<dialect, std::string> to(out);
  append_opening<dialect>(out, record.ended_wall, config::LogLevel::error);
  to.template word<Field::message>("retries exhausted");
  to.template text<Field::route>(route);
  append_method<dialect>(out, record.method);
  to.template text<Field::exhausted_url>(url_of(record, route, path));
  to.template number<Field::exhausted_attempts>(record.ledger->size());
  to.template span<Field::elapsed>(record.took);
  const policy::Outcome& last = record.ledger->back().outcome;
  if (const auto* failed = std::get_if<policy::Failed>(&last)) {
    to.template word<Field::last_stage>(policy::word(failed->stage));
    to.template word<Field::last_error>(policy::word(failed->cause));
  } else {
    append_response<dialect, Field::last_status, Field::last_grpc, Field::last_grpc_code>(
        out, std::get<policy::Responded>(last));
  }
  to.template word<Field::limit>(policy::word(record.ledger->reason));
  append_ids<dialect>(out, record);
  out += "}\n";
}

template <Dialect dialect>
void write_message(config::LogLevel level, std::string_view text, std::int64_t wall, std::string& out) {
  append_opening<dialect>(out, wall, level);
  FieldWriter<dialect, std::string>(out).template text<Field::message>(text);
  out += "}\n";
}

}  // namespace

void write_json_line(const ExchangeRecord& record, std::string_view route, config::LogPath path, Line& out,
                     Dialect dialect) {
  return dialect == Dialect::own ? write_line<Dialect::own>(record, route, path, out)
                                 : write_line<Dialect::otel>(record, route, path, out);
}

void write_exhausted_json(const ExchangeRecord& record, std::string_view route, config::LogPath path,
                          Dialect dialect, std::string& out) {
  return dialect == Dialect::own ? write_exhausted<Dialect::own>(record, route, path, out)
                                 : write_exhausted<Dialect::otel>(record, route, path, out);
}

void write_json_message(config::LogLevel level, std::string_view text, std::int64_t wall, Dialect dialect,
                        std::string& out) {
  return dialect == Dialect::own ? write_message<Dialect::own>(level, text, wall, out)
                                 : write_message<Dialect::otel>(level, text, wall, out);
}

}  // namespace reprise::telemetry
