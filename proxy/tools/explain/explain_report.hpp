// Prints an explanation as text for people. Also builds the sentences that the text and the JSON output
// share.
#pragma once

#include <string>
#include <vector>

#include "config/settings.hpp"
#include "proxy/tools/explain/explanation.hpp"

namespace reprise::tools {

/// All data that `explain` prints.
struct ExplainReport {
  std::string method;
  std::string url;       ///< URL as given on the command line
  std::string file;      ///< configuration file as given; empty for the built-in defaults
  std::string settings;  ///< where the settings come from, in words; empty if they come from `file`
  std::string assumed;   ///< description of the outcome that is assumed for every attempt
  /// Sentences on how an https URL is handled, printed before all others; empty for any other URL.
  std::vector<std::string> https;
  std::vector<std::string> notes;
  const policy::RouteTable* routes = nullptr;  ///< not null; the table must outlive the report
  config::Limits limits;                       ///< limits of the whole process
  Question question;
  Explanation explanation;

  const policy::Route& route() const { return (*routes)[explanation.route]; }
  /// Returns the policy of the route for this request: gRPC calls have other time limits.
  const policy::RoutePolicy& route_policy() const {
    return routes->policy_for(explanation.route, question.request);
  }
};

/// Returns the explanation in about twenty lines. The first column is the topic of the line.
std::string to_text(const ExplainReport&);

/// Returns where the route is defined, for example `reprise.yaml:8`, `preset gcs:12` or `built-in`.
std::string place_of(const policy::Route&, const std::string& file);
/// Returns what the client gets in the end if every wait has its maximum length.
std::string client_gets(const ExplainReport&);
/// Returns sentences on what the route's `hold` does with the assumed response. Empty if the route has no
/// `hold`, or if `hold` does not apply to the response.
std::vector<std::string> held_back(const ExplainReport&);
/// A limit that the proxy enforces, whether or not the explained request reaches it.
struct ReportedLimit {
  std::string_view name;
  std::string text;
};
/// Returns the limits that apply to the request (row L20): replay, timeouts, HTTP version, connection,
/// circuit, host pause.
std::vector<ReportedLimit> limits_of(const ExplainReport&);
/// Returns advice for the two reasons with which the request may end: if every wait is as short as possible,
/// and if every wait is as long as possible. Omits duplicates.
std::vector<std::string> advices(const ExplainReport&);

}  // namespace reprise::tools
