#include "proxy/http/grpc/hints.hpp"

#include <algorithm>

#include "proxy/http/grpc/retry_delay.hpp"
#include "proxy/http/grpc/trailer_lines.hpp"
#include "proxy/http/message/ascii.hpp"
#include "proxy/http/retry_hints/pushback.hpp"

namespace reprise::http {
namespace {

using policy::Duration;

class HintReading {
 public:
  void read(std::string_view name, std::string_view value) {
    if (ascii::same(name, "grpc-retry-pushback-ms")) {
      const std::optional<Duration> pushback = read_pushback(value);
      said_no_ = said_no_ || !pushback;
      take(pushback);
    } else if (ascii::same(name, "grpc-status-details-bin")) {
      take(read_retry_delay(value));
    }
  }
  policy::Hints result() const {
    policy::Hints hints;
    if (pause_ > Duration::zero()) hints.retry_after = pause_;
    hints.said_no = said_no_;
    return hints;
  }

 private:
  void take(std::optional<Duration> pause) { pause_ = std::max(pause_, pause.value_or(Duration::zero())); }

  Duration pause_{};
  bool said_no_ = false;
};

}  // namespace

policy::Hints read_call_hints(const std::vector<FieldLine>& fields) {
  HintReading reading;
  for (const FieldLine& field : fields) reading.read(field.name, field.value);
  return reading.result();
}

policy::Hints read_call_hints(std::string_view trailer_lines) {
  HintReading reading;
  for_each_trailer(trailer_lines,
                   [&](std::string_view name, std::string_view value) { reading.read(name, value); });
  return reading.result();
}

}  // namespace reprise::http
