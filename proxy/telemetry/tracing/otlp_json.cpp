#include "proxy/telemetry/tracing/otlp_json.hpp"

#include <algorithm>
#include <limits>

#include "proxy/policy/match/ascii.hpp"
#include "proxy/policy/match/grpc_pattern.hpp"
#include "proxy/telemetry/log/grpc_call.hpp"
#include "proxy/telemetry/log/json_text.hpp"
#include "proxy/telemetry/log/line_parts.hpp"
#include "proxy/telemetry/tracing/otlp_attributes.hpp"

namespace reprise::telemetry {
namespace {

enum Kind : std::uint8_t { server = 2, client = 3 };  // SpanKind in OTLP's trace.proto

constexpr unsigned sampled = 0x001;        // W3C Trace Context 2.2.6
constexpr unsigned knows_parent = 0x100;   // SPAN_FLAGS_CONTEXT_HAS_IS_REMOTE_MASK
constexpr unsigned remote_parent = 0x200;  // SPAN_FLAGS_CONTEXT_IS_REMOTE_MASK

void append_hex(std::string& out, std::uint64_t number) {
  constexpr std::string_view digits = "0123456789abcdef";
  for (unsigned shift = 64; shift > 0;) out += digits[(number >> (shift -= 4)) & 15U];
}

struct SpanHead {
  std::string_view trace_id;
  std::string_view id;
  std::string_view parent;  ///< id of the parent span; empty if there is none
  unsigned flags = 0;
  Kind kind = server;
  std::int64_t start = 0;  ///< nanoseconds since 1970
  std::int64_t end = 0;
};

// Returns `SERVICE/METHOD` for a call, and the method for any other request. The result is a view into the
// entry.
std::string_view span_name(const HistoryEntry& story) {
  if (story.is_call && !policy::call_name(story.path).service.empty())
    return std::string_view(story.path).substr(1);
  return is_known_method(story.method) ? std::string_view(story.method) : "HTTP";
}

void open_span(std::string& out, const SpanHead& head, std::string_view name) {
  out.append("{\"traceId\":\"").append(head.trace_id).append("\",\"spanId\":\"").append(head.id);
  if (!head.parent.empty()) out.append("\",\"parentSpanId\":\"").append(head.parent);
  out += "\",\"flags\":";
  append_number(out, std::uint64_t{head.flags});
  out += ",\"name\":";
  append_json(out, name);
  out += ",\"kind\":";
  append_number(out, std::uint64_t{head.kind});
  out += ",\"startTimeUnixNano\":\"";
  append_number(out, head.start);
  out += "\",\"endTimeUnixNano\":\"";
  append_number(out, std::max(head.start, head.end));
  out += "\",";
}

void close_span(std::string& out, bool error) {
  if (error) out += ",\"status\":{\"code\":2}";
  out += '}';
}

void add_request(OtlpAttributes& to, const HistoryEntry& story) {
  if (is_known_method(story.method)) {
    to.text("http.request.method", story.method);
  } else {
    to.text("http.request.method", "_OTHER");
    to.text("http.request.method_original", story.method);
  }
  to.text("server.address", story.host);
  to.whole("server.port", story.port);
  if (!story.is_call) return;
  const policy::CallName name = policy::call_name(story.path);
  to.text("rpc.system", "grpc");
  to.text("rpc.service", name.service);
  to.text("rpc.method", name.method);
}

void add_status(OtlpAttributes& to, int status, const std::optional<policy::GrpcStatus>& grpc) {
  to.whole("http.response.status_code", status);
  if (grpc) to.whole("rpc.grpc.status_code", static_cast<std::int64_t>(*grpc));
}

std::string_view scheme_of(const HistoryEntry& story) { return story.over_tls ? "https" : "http"; }

// Returns the URL without the query, which is never kept. Empty for a tunnel, or if the path is absent or
// must not be reported.
std::string url_of(const HistoryEntry& story) {
  if (story.tunnel || !story.path.starts_with('/')) return {};
  std::string url(scheme_of(story));
  url.append("://").append(policy::host_text(story.host));
  if (story.port != (story.over_tls ? 443 : 80)) url.append(":").append(std::to_string(story.port));
  return url.append(story.path);
}

void add_client(OtlpAttributes& to, const std::string& client) {
  if (!client.empty()) to.text("client.address", parts_of(client).host);
}

std::string request_error(const HistoryEntry& story) {
  if (story.ending != Ending::complete) return std::string(word(story.ending));
  if (story.grpc && is_server_error(*story.grpc)) return std::string(policy::word(*story.grpc));
  return story.status >= 500 ? std::to_string(story.status) : std::string();
}

void append_request_span(std::string& out, const SpanHead& head, const HistoryEntry& story) {
  open_span(out, head, span_name(story));
  OtlpAttributes to(out);
  add_request(to, story);
  if (!story.tunnel) {
    to.text("url.scheme", scheme_of(story));
    to.text("url.path", story.path);
  }
  add_client(to, story.client);
  if (story.http2) to.text("network.protocol.version", "2");
  if (story.status != 0) add_status(to, story.status, story.grpc);
  const std::string error = request_error(story);
  to.text("error.type", error);
  to.text("reprise.route", story.route_name);
  to.text("reprise.reason", policy::word(story.reason));
  to.whole("reprise.attempts", static_cast<std::int64_t>(story.attempts.size() + story.attempts_left_out));
  to.text("reprise.id", story.id);
  if (story.own_response) to.flag("reprise.own_response", true);
  if (story.recovered) to.flag("reprise.recovered", true);
  if (story.ambiguous) to.flag("reprise.ambiguous", true);
  if (story.hedge != policy::HedgeOutcome::none) to.text("reprise.hedge", policy::word(story.hedge));
  to.close();
  close_span(out, !error.empty());
}

void add_peer(OtlpAttributes& to, const policy::UpstreamAddress& address) {
  if (!address.known()) return;
  const std::string text = text_of(address);
  to.text("network.peer.address", parts_of(text).host);
  to.whole("network.peer.port", address.port);
}

// Adds the outcome. Returns true for an error. An attempt that reprise cancelled is not an error: another
// attempt was faster (hedge).
bool add_outcome(OtlpAttributes& to, const policy::Outcome& outcome) {
  to.text("reprise.outcome", policy::outcome_label(outcome));
  if (const auto* failed = std::get_if<policy::Failed>(&outcome)) {
    to.text("reprise.stage", word(failed->stage));
    if (failed->cause == policy::Cause::cancelled) return false;
    to.text("error.type", word(failed->cause));
    to.text("reprise.reset_code", policy::reset_code(*failed));
    return true;
  }
  const auto& responded = std::get<policy::Responded>(outcome);
  add_status(to, responded.status, responded.grpc);
  if (responded.hints.retry_after) to.milliseconds("reprise.retry_after_ms", *responded.hints.retry_after);
  if (responded.hints.said_no) to.flag("reprise.said_no", true);
  if (responded.body_listed) to.flag("reprise.body_listed", true);
  if (responded.status < 400 && !policy::is_failed_call(responded)) return false;
  to.text("error.type", responded.status < 400 ? std::string(policy::word(*responded.grpc))
                                               : std::to_string(responded.status));
  return true;
}

void append_attempt_span(std::string& out, const SpanHead& head, const HistoryEntry& story,
                         const HistoryAttempt& attempt) {
  open_span(out, head, span_name(story));
  OtlpAttributes to(out);
  add_request(to, story);
  to.text("url.full", url_of(story));
  add_peer(to, attempt.address);
  if (attempt.http2) to.text("network.protocol.version", "2");
  if (attempt.number > 1) to.whole("http.request.resend_count", std::int64_t{attempt.number} - 1);
  const bool error = add_outcome(to, attempt.outcome);
  to.text("reprise.reason", policy::word(attempt.verdict.reason));
  to.flag("reprise.retry", attempt.verdict.retry);
  to.milliseconds("reprise.wait_ms", attempt.wait);
  if (attempt.queued > policy::Duration::zero()) to.milliseconds("reprise.queued_ms", attempt.queued);
  to.flag("reprise.reused", attempt.reused);
  to.flag("reprise.may_have_sent", attempt.may_have_sent);
  to.close();
  close_span(out, error);
}

}  // namespace

OtlpJson::OtlpJson(const TraceResource& resource, policy::Dice& dice) : dice_(dice) {
  opening_ = "{\"resourceSpans\":[{\"resource\":{";
  OtlpAttributes to(opening_);
  const auto is_given = [&](std::string_view key) {
    const auto& given = resource.attributes;
    return std::any_of(given.begin(), given.end(), [&](const auto& each) { return each.first == key; });
  };
  const auto add = [&](std::string_view key, std::string_view value) {
    if (!is_given(key)) to.text(key, value);
  };
  for (const auto& [key, value] : resource.attributes) to.text(key, value);
  add("service.name", "reprise");
  add("service.version", resource.version);
  add("service.instance.id", resource.instance);
  add("host.name", resource.host);
  if (!is_given("process.pid")) to.whole("process.pid", resource.process);
  to.close();
  opening_ += "},\"scopeSpans\":[{\"scope\":{\"name\":\"reprise\",\"version\":";
  append_json(opening_, resource.version);
  opening_ += "},\"spans\":[";
}

void OtlpJson::begin() {
  text_ = opening_;
  spans_ = 0;
}

// Draws a span id. The id is never all zeros, because such an id is not valid.
std::string OtlpJson::draw_id() {
  std::string id;
  append_hex(id, 1 + dice_.roll(std::numeric_limits<std::uint64_t>::max() - 1));
  return id;
}

void OtlpJson::add(const HistoryEntry& story, std::uint64_t random) {
  const std::string_view parent = story.traceparent;
  std::string trace_id(parent.empty() ? std::string_view() : parent.substr(3, 32));
  if (parent.empty()) {
    trace_id = draw_id();
    append_hex(trace_id, random);
  }
  const std::string id = draw_id();
  const std::int64_t start = story.ended_wall - story.took.count();
  if (spans_++ > 0) text_ += ',';
  append_request_span(
      text_,
      {trace_id, id, parent.empty() ? std::string_view() : parent.substr(36, 16),
       sampled | knows_parent | (parent.empty() ? 0U : remote_parent), server, start, story.ended_wall},
      story);
  for (const HistoryAttempt& attempt : story.attempts) {
    ++spans_;
    text_ += ',';
    const std::string attempt_id = draw_id();
    append_attempt_span(text_,
                        {trace_id, attempt_id, id, sampled | knows_parent, client,
                         start + attempt.started.count(), start + attempt.ended.count()},
                        story, attempt);
  }
}

std::string_view OtlpJson::end() {
  text_ += "]}]}]}";
  return text_;
}

}  // namespace reprise::telemetry
