// The end of a soak: our ledger against reprise's counters, what it held and holds, and the table of it all.
#pragma once

#include <string>
#include <vector>

#include "tests/soak/exposition.hpp"
#include "tests/soak/load.hpp"
#include "tests/soak/watched_process.hpp"

namespace reprise::soak {

/// What was seen beside the ledger.
struct Observed {
  Exposition metrics;
  std::vector<ProcessSample> samples;  ///< one a second while requests were started
  ProcessSample before;                ///< warm, and at rest
  ProcessSample after;                 ///< at rest again
  double minutes = 0;
  std::uint64_t flaps = 0;
};

class Judgement {
 public:
  Judgement(Ledger& ledger, const Load& load, const Observed& observed);
  /// Compares, prints the table, and says whether all of it is right.
  bool print();
  /// A flat JSON object of the figures.
  std::string figures() const;

 private:
  void row_of_attempts(const char* what, double ours, double theirs, double most_in_vain = 0);
  double most_in_vain() const;
  void row(const char* what, double ours, double theirs);
  void fail(const std::string& why);
  void compare_counters();
  void compare_attempts();
  void compare_reasons();
  void compare_refusals(const std::string& reason, double ours, double theirs);
  void check_losses();
  void check_process();
  void check_latency();
  std::uint64_t kinds() const;

  Ledger& ledger_;
  const Load& load_;
  const Observed& observed_;
  Ledger::Sums sums_;
  double slack_ = 0;  ///< attempts that a limit may have ended although the upstream played them
  bool right_ = true;
};

}  // namespace reprise::soak
