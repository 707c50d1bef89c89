// The pairs of stage and cause with which an attempt can fail.
#pragma once

#include <span>

#include "proxy/policy/decision/outcome.hpp"

namespace reprise::simulation {

/// Returns every possible pair, ordered by stage. A random story must not report any other pair.
std::span<const policy::Failed> possible_failures();
bool is_possible(const policy::Failed&);

inline constexpr std::size_t stage_count = policy::stage_count;
inline constexpr std::size_t pair_count = stage_count * policy::cause_count;
inline std::size_t pair_index(const policy::Failed& failed) {
  return static_cast<std::size_t>(failed.stage) * policy::cause_count +
         static_cast<std::size_t>(failed.cause);
}

}  // namespace reprise::simulation
