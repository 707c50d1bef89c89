// What `reprise simulate` prints: the policies side by side, as text, one SVG chart or one HTML page.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/tools/simulate/measures.hpp"
#include "proxy/tools/simulate/model/model.hpp"

namespace reprise::tools {

using policy::Duration;

/// One policy and its results.
struct Compared {
  std::string name;
  std::string sentence;
  Measures measures;
  /// Only for a replay: the results if attempts that are not in the log succeed. `measures` then has the
  /// results if they repeat the last outcome.
  std::optional<Measures> best_case;
};

/// The replayed log, and how much of it could be used.
struct Replayed {
  std::string file;
  std::uint64_t lines = 0;
  std::uint64_t requests = 0;
  std::uint64_t other_lines = 0;  ///< of reprise's log, but not about a request with attempts
  std::uint64_t bad_lines = 0;    ///< could not be read, and were left out because that was allowed
  /// ended by the client, or broken in the body: taken from the log without a new decision
  std::uint64_t as_logged = 0;
};

struct Report {
  std::string configuration;  ///< its file, or a name if there is none
  Duration duration{};
  std::optional<Model> model;  ///< either this or `replayed` is present
  std::optional<Replayed> replayed;
  std::vector<Compared> compared;
  std::vector<std::string> notes;
};

/// Formats `91.20 %` or, for a replay, `91.20 % .. 98.00 %` with the lower value first.
std::string range_text(const Compared&, std::string (*shown)(double), double (Measures::*of)() const);

/// One part of what is simulated, in a few lines without markup: the requests, the upstream, its trouble; for
/// a replay: the log.
struct Premises {
  std::string what;
  std::string text;
};
std::vector<Premises> premises_of(const Report&);
/// Returns what a reader must know about the results besides the numbers.
std::vector<std::string> remarks_on(const Report&);

}  // namespace reprise::tools
