// What a running proxy says of itself: its status, its numbers, its configuration and its last requests.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/server/admin/admin.hpp"
#include "proxy/server/process/config_control.hpp"
#include "proxy/server/process/runtime.hpp"
#include "proxy/telemetry/metrics/status.hpp"

namespace reprise::server {

class AdminViews {
 public:
  AdminViews(Runtime& runtime, const ConfigControl& config) : runtime_(runtime), config_(config) {}

  /// Everything that the admin listener shows. It must outlive them.
  AdminPages pages();
  std::string status() const;        ///< JSON
  std::string status_words() const;  ///< for people
  /// YAML that loads to the configuration in force, without secrets, with comments that running.hpp reads.
  std::string effective_configuration() const;
  /// By an id (Stories::find); absent: it is gone, or never was.
  std::optional<std::string> story(std::string_view id, StoryForm form) const;

 private:
  telemetry::StatusFacts status_facts(const InForce&) const;
  std::vector<telemetry::StatusFacts::Upstream> upstream_facts() const;
  void add_minute(telemetry::StatusFacts&, const InForce&) const;
  std::string metrics_text(telemetry::Exposition);
  /// What would change how it ended; empty: nothing, or its route is gone.
  std::string advice_for(const telemetry::Story&) const;
  /// A JSON array of those that are worth telling, the newest last.
  std::string newest_stories() const;
  /// On the page thread: for readers of /events.
  Edition edition(bool whole);
  void append_new_stories(std::string& events);

  Runtime& runtime_;
  const ConfigControl& config_;
  /// What the edition before has told readers of; the page thread's.
  struct Edited {
    std::string hash;
    std::vector<std::uint64_t> requests;  ///< by route
    std::vector<std::uint64_t> stories;   ///< their numbers
  };
  Edited edition_before_;
};

}  // namespace reprise::server
