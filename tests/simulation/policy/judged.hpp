// Result of a story: the law that it broke, if any, and the hash of its events.
#pragma once

#include <cstdint>
#include <string_view>

#include "tests/support/play.hpp"

namespace reprise::simulation {

struct Judged {
  std::string_view broken;  ///< empty: all laws hold
  std::uint64_t hash = 0;
};

/// Hash of the events of a story, which depends on their order.
class EventHash {
 public:
  void add(std::uint64_t value) {
    value_ = (value_ ^ value) * 0x9ddfea08eb382d69ULL;
    value_ ^= value_ >> 32U;
  }
  void add(policy::Instant at) { add(static_cast<std::uint64_t>(at.time_since_epoch().count())); }
  void add(const policy::Action& action) {
    add(action.index());
    if (const auto* start = std::get_if<policy::Start>(&action)) add(start->number);
    if (const auto* wait = std::get_if<policy::Wait>(&action)) add(wait->until);
    if (const auto* deliver = std::get_if<policy::Deliver>(&action)) add(deliver->number);
    if (const auto* cancel = std::get_if<policy::Cancel>(&action)) add(cancel->number);
  }
  void add(const policy::Actions& actions) {
    for (const policy::Action& action : actions) add(action);
  }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0x2127599bf4325c37ULL;
};

}  // namespace reprise::simulation
