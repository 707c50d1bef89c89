#include "proxy/telemetry/tracing/sampling.hpp"

#include <limits>

namespace reprise::telemetry {

bool is_sampled(std::string_view traceparent, bool notable, double ratio, std::uint64_t random) {
  constexpr std::size_t flags_digit = 54;  // offset of the flags' lower digit in traceparent
  if (traceparent.size() > flags_digit) {
    constexpr std::string_view odd = "13579bdf";
    return odd.find(traceparent[flags_digit]) != std::string_view::npos;
  }
  constexpr std::uint64_t all = std::uint64_t{1} << 56;
  const auto threshold = static_cast<std::uint64_t>((1 - ratio) * static_cast<double>(all));
  return notable || random % all >= threshold;
}

void offer_spans(SpanQueue& queue, Metrics& metrics, const ExchangeRecord& record, bool path, double ratio,
                 policy::Dice& dice) {
  const std::uint64_t random = dice.roll(std::numeric_limits<std::uint64_t>::max());
  if (!is_sampled(record.traceparent, is_notable(record), ratio, random)) return;
  const EncodedEntry story(record, path);
  if (!queue.push(story, random)) metrics.count_dropped_spans(SpanDrop::queue_full, 1 + story.attempts());
}

}  // namespace reprise::telemetry
