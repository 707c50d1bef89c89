#include "proxy/net/upstream/warning.hpp"

namespace reprise::net {

void warn_of(telemetry::Log& log, Upstream& upstream, std::string_view text) {
  constexpr Duration quiet = std::chrono::seconds(1);
  const Instant now = Tick::now();
  if (upstream.last_warning != Instant{} && now - upstream.last_warning < quiet) return;
  upstream.last_warning = now;
  log.message(config::LogLevel::warn, text, Clock::wall_nanoseconds());
}

}  // namespace reprise::net
