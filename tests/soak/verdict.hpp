// Judges a soak: compares the ledger with reprise's counters, checks the resources that reprise used, and
// prints a table of the results.
#pragma once

#include <string>
#include <vector>

#include "tests/soak/exposition.hpp"
#include "tests/soak/load.hpp"
#include "tests/soak/watched_process.hpp"

namespace reprise::soak {

/// The measurements of a soak that are not in the ledger.
struct Observed {
  Exposition metrics;
  std::vector<ProcessSample> samples;  ///< one sample per second while requests were started
  ProcessSample before;                ///< the idle process before the load
  ProcessSample after;                 ///< the idle process after the load
  double minutes = 0;
  std::uint64_t flaps = 0;
};

class Judgement {
 public:
  Judgement(Ledger& ledger, const Load& load, const Observed& observed);
  /// Compares the ledger with the measurements and prints the table. Returns true if the soak passed.
  bool print();
  /// Returns the figures of the soak as a flat JSON object.
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
  /// Maximum number of attempts that a timeout may have ended while the upstream was still playing them.
  double slack_ = 0;
  bool right_ = true;
};

}  // namespace reprise::soak
