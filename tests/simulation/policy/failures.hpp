// Which failures an attempt can come to: the pairs of stage and cause that the proxy can meet.
#pragma once

#include <span>

#include "proxy/policy/decision/outcome.hpp"

namespace reprise::simulation {

/// Every pair that can occur, by stage. What is not here must not be told in any random story.
std::span<const policy::Failed> possible_failures();
bool is_possible(const policy::Failed&);

inline constexpr std::size_t stage_count = policy::stage_count;
inline constexpr std::size_t pair_count = stage_count * policy::cause_count;
inline std::size_t pair_index(const policy::Failed& failed) {
  return static_cast<std::size_t>(failed.stage) * policy::cause_count +
         static_cast<std::size_t>(failed.cause);
}

}  // namespace reprise::simulation
