// Coverage marks: what the random stories have reached,
// counted once a story; what they never reach, nobody watches.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "proxy/policy/decision/exchange.hpp"
#include "tests/simulation/policy/failures.hpp"

namespace reprise::simulation {

/// How the client was left.
enum class Ending : std::uint8_t {
  responded,  ///< an upstream's response went out whole
  cut,        ///< the rest of one could not follow
  failed,     ///< answered in our own words
  timed_out,  ///< the same, with 504 instead of the response at hand
  left,       ///< the client was gone
};
inline constexpr std::size_t ending_count = 5;
std::string_view word(Ending);

/// Not thread-safe: one for each thread, added up at the end.
class CoverageMarks {
 public:
  void begin_story() { ++story_; }
  void note(policy::Reason reason) { note(reasons, static_cast<std::size_t>(reason)); }
  void note(const policy::Failed& failed) { note(failures, pair_index(failed)); }
  void note(const policy::Actions&);
  void note(Ending ending) { note(endings, static_cast<std::size_t>(ending)); }
  void note(policy::HedgeOutcome hedge) { note(hedges, static_cast<std::size_t>(hedge)); }
  /// Everything that a finished request tells.
  void note(const policy::Ledger&);

  void add(const CoverageMarks&);
  std::uint64_t stories() const { return story_; }
  /// One line for each mark.
  std::string table() const;
  /// One line for each that was reached less than once in a thousand stories, and for each pair of stage and
  /// cause that was reached and cannot occur. Empty: all is well.
  std::string missing() const;

 private:
  struct Mark {
    std::uint64_t count = 0;
    std::uint64_t last = 0;  ///< the story that it was last counted for
  };
  template <std::size_t size>
  using List = std::array<Mark, size>;

  template <std::size_t size>
  void note(List<size>& list, std::size_t index) {
    if (list[index].last == story_) return;
    list[index].last = story_;
    ++list[index].count;
  }
  template <typename Visitor>
  void each(Visitor) const;

  List<policy::reason_count> reasons{};
  List<pair_count> failures{};
  List<std::variant_size_v<policy::Action>> actions{};
  List<ending_count> endings{};
  List<policy::hedge_outcome_count> hedges{};
  std::uint64_t story_ = 0;
};

}  // namespace reprise::simulation
