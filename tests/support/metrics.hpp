// Makes metrics for a single route, for unit tests.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "proxy/http/message/rejection.hpp"
#include "proxy/telemetry/metrics/metrics.hpp"

namespace reprise::net {

inline std::unique_ptr<telemetry::Metrics> make_metrics() {
  const std::vector<std::string> routes{"default"};
  const auto words = http::all_words();
  return std::make_unique<telemetry::Metrics>(routes, words, "test");
}

}  // namespace reprise::net
