// Writes finished requests as the body of an OTLP/HTTP request in JSON (OTLP 1.3): batches of spans with the
// attributes of OpenTelemetry's semantic conventions for HTTP.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proxy/policy/pacing/dice.hpp"
#include "proxy/telemetry/history/history_entry.hpp"

namespace reprise::telemetry {

/// The resource that emits the spans: this process.
struct TraceResource {
  std::string version;
  std::string instance;  ///< this proxy's name in Via, unique to the process
  std::string host;
  std::int64_t process = 0;
  /// Attributes from OTEL_RESOURCE_ATTRIBUTES and OTEL_SERVICE_NAME. They override the other members of
  /// TraceResource.
  std::vector<std::pair<std::string, std::string>> attributes = {};
};

/// Writes one batch at a time: `begin`, any number of `add`, `end`. Used by one thread. Span ids are drawn
/// from the dice.
class OtlpJson {
 public:
  OtlpJson(const TraceResource&, policy::Dice&);

  void begin();
  /// Adds one span of kind SERVER for the request, and as its children one span of kind CLIENT for each kept
  /// attempt. `random`: last 64 bits of the trace id, used only if there is no `traceparent`.
  void add(const HistoryEntry&, std::uint64_t random);
  /// Returns the whole body: a view that is valid until the next `begin`.
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
