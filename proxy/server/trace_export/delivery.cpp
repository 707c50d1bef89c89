#include "proxy/server/trace_export/delivery.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <charconv>

#include "proxy/telemetry/log/json_text.hpp"

namespace reprise::server {
namespace {

namespace json = boost::json;

// Returns the number in a JSON value. OTLP's JSON writes int64 as a string; a JSON number is accepted too.
// Returns 0 for any other value.
std::uint64_t whole_of(const json::value& value) {
  std::int64_t number = 0;
  if (value.is_int64()) number = value.get_int64();
  if (const json::string* const text = value.if_string())
    std::from_chars(text->data(), text->data() + text->size(), number);
  return static_cast<std::uint64_t>(std::max<std::int64_t>(number, 0));
}

json::object partial_success(const std::string& body) {
  json::error_code error;
  json::value whole = json::parse(body, error);
  if (error || !whole.is_object()) return {};
  json::value* const partial = whole.get_object().if_contains("partialSuccess");
  return partial != nullptr && partial->is_object() ? std::move(partial->get_object()) : json::object();
}

std::uint64_t rejected_of(const Posted& posted, std::uint64_t spans) {
  const json::object partial = partial_success(posted.body);
  const json::value* const rejected = partial.if_contains("rejectedSpans");
  return rejected == nullptr ? 0 : std::min(whole_of(*rejected), spans);
}

bool is_taken(const Posted& posted) {
  return posted.end == Posted::End::responded && posted.status >= 200 && posted.status < 300;
}

}  // namespace

bool is_temporary(const Posted& posted) {
  if (posted.end != Posted::End::responded) return true;
  const int status = posted.status;
  return status == 429 || status == 502 || status == 503 || status == 504;
}

Decision decide(const Posted& posted, unsigned tries, unsigned most, std::uint64_t spans) {
  using Kind = Decision::Kind;
  using telemetry::SpanDrop;
  if (is_taken(posted)) return {Kind::taken, {}, rejected_of(posted, spans)};
  if (!is_temporary(posted)) return {Kind::dropped, SpanDrop::refused, 0};
  if (tries < most) return {Kind::again, {}, 0};
  return {Kind::dropped, posted.end == Posted::End::responded ? SpanDrop::busy : SpanDrop::unreachable, 0};
}

std::string words_of(const Posted& posted) {
  switch (posted.end) {
    case Posted::End::unresolved: return "the host name of the collector does not resolve";
    case Posted::End::unconnected: return "the connection to the collector failed";
    case Posted::End::unproved:
      return "TLS with the collector failed: " + std::string(telemetry::clipped(posted.body));
    case Posted::End::timed_out: return "the collector did not respond in time";
    case Posted::End::broken: return "the connection ended before a response";
    case Posted::End::malformed:
      return "the response is not HTTP/1.1: check that this port accepts OTLP over HTTP";
    case Posted::End::cancelled: return "the export was cancelled";
    case Posted::End::responded: break;
  }
  std::string text = "the collector responded with status " + std::to_string(posted.status);
  std::string_view said = posted.body;
  json::object partial;
  if (is_taken(posted)) {
    partial = partial_success(posted.body);
    const json::value* const message = partial.if_contains("errorMessage");
    said = message != nullptr && message->is_string() ? std::string_view(message->get_string()) : "";
  }
  if (!said.empty()) text.append(": ").append(telemetry::clipped(said));
  return text;
}

}  // namespace reprise::server
