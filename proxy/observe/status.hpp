// The /status document: who is running, how it is configured, what it has done so far. JSON, no secrets.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "config/settings.hpp"
#include "proxy/observe/metrics.hpp"

namespace reprise::observe {

struct StatusFacts {
  std::string_view version;
  std::string_view config_file;  ///< empty: built-in defaults
  std::string_view config_hash;
  std::int64_t started_unix = 0;
  std::int64_t now_unix = 0;
  bool ready = false;
  bool draining = false;
  std::vector<std::string> listeners;  ///< "forward 127.0.0.1:3128"
};

std::string status_json(const StatusFacts&, const config::Settings&, const Metrics::Totals&);

}  // namespace reprise::observe
