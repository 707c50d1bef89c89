// Stories as the body of an OTLP/HTTP request in JSON (OTLP 1.3): batches of spans with the attributes of
// OpenTelemetry's semantic conventions for HTTP.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proxy/policy/pacing/dice.hpp"
#include "proxy/telemetry/history/story.hpp"

namespace reprise::telemetry {

/// Who the spans are of.
struct TraceResource {
  std::string version;
  std::string instance;  ///< our name in Via: unlike any other process's
  std::string host;
  std::int64_t process = 0;
  /// Of OTEL_RESOURCE_ATTRIBUTES and OTEL_SERVICE_NAME: they win over those above.
  std::vector<std::pair<std::string, std::string>> attributes = {};
};

/// One batch at a time: `begin`, any number of stories,
/// `end`. Used by one thread. Ids are drawn from the dice.
class OtlpJson {
 public:
  OtlpJson(const TraceResource&, policy::Dice&);

  void begin();
  /// One span of kind SERVER for the request, and below it one of kind CLIENT for each attempt that is told.
  /// `random`: the last 64 bits of its trace id, where no `traceparent` says which it is.
  void add(const Story&, std::uint64_t random);
  /// The whole text; a view until `begin`.
  std::string_view end();
  std::size_t spans() const { return spans_; }

 private:
  std::string draw_id();

  policy::Dice& dice_;
  std::string opening_;
  std::string text_;
  std::size_t spans_ = 0;
};

}  // namespace reprise::telemetry
