// The report of `reprise simulate`: compares policies, as text, one SVG chart or one HTML page.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/policy/pacing/budget.hpp"
#include "proxy/tools/simulate/measures.hpp"
#include "proxy/tools/simulate/model/model.hpp"

namespace reprise::tools {

using policy::Duration;

/// One policy and its results.
struct Compared {
  std::string name;
  std::string sentence;
  Measures measures;
  /// Only for a replay: the results if every attempt that is not in the log succeeds. `measures` then has the
  /// results if every such attempt repeats the last logged outcome of its request.
  std::optional<Measures> best_case;
};

/// The name of the replayed log, and how many of its lines and requests the replay used.
struct Replayed {
  std::string file;
  std::uint64_t lines = 0;
  std::uint64_t requests = 0;
  std::uint64_t other_lines = 0;  ///< lines of reprise's log that do not describe a request with attempts
  std::uint64_t bad_lines = 0;    ///< unreadable lines, skipped because the user allowed it
  /// Requests that the client cancelled, or whose response body broke off. They are not replayed.
  std::uint64_t as_logged = 0;
};

/// The service config of a gRPC client that is compared with the configuration.
struct ComparedClient {
  std::string file;
  std::vector<std::string> sentences;          ///< what each of its entries allows
  std::string throttling;                      ///< its limit of all retries; empty if it has none
  std::optional<policy::BudgetPolicy> budget;  ///< budget of the default route of the configuration
};

struct Report {
  std::string configuration;  ///< name of the configuration file, or of the built-in settings
  Duration duration{};
  std::optional<Model> model;  ///< absent for a replay; `replayed` is then present
  std::optional<Replayed> replayed;
  std::optional<ComparedClient> client;
  std::vector<Compared> compared;
  std::vector<std::string> notes;
};

/// Formats one number of the results, such as `91.20 %`. For a replay, formats the range between the two
/// results, such as `91.20 % .. 98.00 %`, with the lower value first.
std::string range_text(const Compared&, std::string (*shown)(double), double (Measures::*of)() const);

/// Describes one part of the simulated conditions in a few lines without markup: the requests, the upstream,
/// the failures of the upstream, the replayed log, or the configuration.
struct Premises {
  std::string what;
  std::string text;
};
std::vector<Premises> premises_of(const Report&);
/// Returns remarks that a reader needs to interpret the numbers.
std::vector<std::string> remarks_on(const Report&);

}  // namespace reprise::tools
