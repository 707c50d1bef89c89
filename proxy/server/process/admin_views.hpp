// Reports of a running proxy about itself: status, metrics, configuration and recent requests.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/server/admin/admin.hpp"
#include "proxy/server/process/config_control.hpp"
#include "proxy/server/process/runtime.hpp"
#include "proxy/telemetry/log/json_document.hpp"
#include "proxy/telemetry/metrics/status.hpp"

namespace reprise::server {

class AdminViews {
 public:
  AdminViews(Runtime& runtime, const ConfigControl& config) : runtime_(runtime), config_(config) {}

  /// Returns the pages of the admin listener. This object must outlive them.
  AdminPages pages();
  std::string status() const;        ///< JSON
  std::string status_words() const;  ///< text for people
  /// Returns the current configuration as YAML without secrets, with the comments that running.hpp reads.
  std::string effective_configuration() const;
  /// Returns the history of one request by its id (RequestHistory::find); none if it is unknown or was
  /// evicted.
  std::optional<std::string> history(std::string_view id, HistoryForm form) const;

 private:
  telemetry::StatusFacts status_facts(const CurrentConfig&) const;
  std::vector<telemetry::StatusFacts::Upstream> upstream_facts() const;
  void add_minute(telemetry::StatusFacts&, const CurrentConfig&) const;
  std::string metrics_text(telemetry::Exposition);
  /// Returns advice on what to change so that such a request ends differently. Empty if there is no advice,
  /// or if the request's route no longer exists.
  std::string advice_for(const telemetry::HistoryEntry&) const;
  /// Returns the entry as JSON, with the current name of its route.
  json::object as_json(telemetry::HistoryEntry) const;
  /// Returns a JSON array of the newest requests worth reporting (is_notable), the newest last.
  std::string newest_histories() const;
  /// Returns the next edition for the readers of /events. Page thread only.
  Edition edition(bool whole);
  void append_new_histories(std::string& events);

  Runtime& runtime_;
  const ConfigControl& config_;
  /// State of the previous edition. Page thread only.
  struct Edited {
    std::string hash;
    std::vector<std::uint64_t> requests;   ///< number of finished requests of each route
    std::vector<std::uint64_t> histories;  ///< numbers of the requests whose histories were sent
  };
  Edited edition_before_;
};

}  // namespace reprise::server
