// Simplifies a story that breaks a law, as long as it still breaks the same law.
#pragma once

#include <cstddef>
#include <optional>

#include "tests/support/script.hpp"

namespace reprise::simulation {

/// Number of ways to simplify a step.
inline constexpr std::size_t plainer_ways = 11;

/// Returns the step with one property removed; null if the step does not have that property.
inline std::optional<play::Step> plainer(const play::Step& step, std::size_t way) {
  play::Step plain = step;
  auto* response = std::get_if<policy::Responded>(&plain.outcome);
  const auto drop = [&](auto& value, auto nothing) {
    const bool was = value != nothing;
    value = nothing;
    return was ? std::optional(plain) : std::nullopt;
  };
  switch (way) {
    case 0: return drop(plain.in_attempt, play::Interruption::none);
    case 1: return drop(plain.in_wait, play::Interruption::none);
    case 2: return drop(plain.in_body, play::Interruption::none);
    case 3: return drop(plain.lasting, policy::Duration::zero());
    case 4: return drop(plain.late, policy::Duration::zero());
    case 5: return drop(plain.keeping, play::Keeping::whole);
    case 6: return drop(plain.breaks, play::Breaking::no);
    case 7: return drop(plain.on_reused, false);
    case 8: return drop(plain.differs, false);
    case 9: return drop(plain.held, true);
    default: break;
  }
  if (response == nullptr) return std::nullopt;
  const bool was = response->hints.retry_after || response->hints.aws_retry_after || response->hints.said_no;
  response->hints = {};
  return was ? std::optional(plain) : std::nullopt;
}

/// Tries each single simplification of the script, and keeps it if `still_broken` returns true. Returns true
/// if any simplification was kept.
template <typename Check>
bool shrink_script(play::Script& script, Check still_broken) {
  bool changed = false;
  for (std::size_t i = script.size(); i-- > 0;) {
    const play::Script before = script;
    if (script.size() > 1) {
      script.erase(script.begin() + static_cast<std::ptrdiff_t>(i));
      if (still_broken()) {
        changed = true;
        continue;
      }
      script = before;
    }
    for (std::size_t way = 0; way < plainer_ways; ++way) {
      const play::Step was = script[i];
      const auto plain = plainer(was, way);
      if (!plain) continue;
      script[i] = *plain;
      if (still_broken()) {
        changed = true;
      } else {
        script[i] = was;
      }
    }
  }
  return changed;
}

}  // namespace reprise::simulation
