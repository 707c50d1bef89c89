// Coverage marks of the policy stories: counts of the stories that reached each reason, failure, action,
// ending and hedge outcome.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "proxy/policy/decision/exchange.hpp"
#include "tests/simulation/policy/failures.hpp"

namespace reprise::simulation {

/// How a request ended for its client.
enum class Ending : std::uint8_t {
  responded,  ///< an upstream's response was delivered whole
  cut,        ///< the rest of a response could not be delivered
  failed,     ///< the client got an error response from the proxy
  timed_out,  ///< the client got a 504 from the proxy instead of an upstream's response
  left,       ///< the client was gone
};
inline constexpr std::size_t ending_count = 5;
std::string_view word(Ending);

/// Not thread-safe: each thread has its own object. The objects are added up at the end.
class CoverageMarks {
 public:
  void begin_story() { ++story_; }
  void note(policy::Reason reason) { note(reasons, static_cast<std::size_t>(reason)); }
  void note(const policy::Failed& failed) { note(failures, pair_index(failed)); }
  void note(const policy::Actions&);
  void note(Ending ending) { note(endings, static_cast<std::size_t>(ending)); }
  void note(policy::HedgeOutcome hedge) { note(hedges, static_cast<std::size_t>(hedge)); }
  /// Counts everything in the ledger of a finished request.
  void note(const policy::Ledger&);

  void add(const CoverageMarks&);
  std::uint64_t stories() const { return story_; }
  /// Returns one line per mark.
  std::string table() const;
  /// Returns one line for each mark that fewer than one in a thousand stories reached. Adds one line for each
  /// pair of stage and cause that was reached although it is listed as impossible. Empty if there is nothing
  /// to report.
  std::string missing() const;

 private:
  struct Mark {
    std::uint64_t count = 0;
    std::uint64_t last = 0;  ///< number of the last story that counted for this mark
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
