// The metrics of one route, for tests of single parts.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "proxy/http/rejection.hpp"
#include "proxy/observe/metrics.hpp"

namespace reprise::net {

inline std::unique_ptr<observe::Metrics> make_metrics() {
  const std::vector<std::string> routes{"default"};
  const auto words = http::all_words();
  return std::make_unique<observe::Metrics>(routes, words, "test");
}

}  // namespace reprise::net
