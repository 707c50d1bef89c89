// Prints an explanation as text for people. Also has the sentences that the text and the JSON have in common.
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
  std::string settings;  ///< source of the settings, in words; empty if it is the file
  std::string assumed;   ///< description of the outcome that is assumed for every attempt
  /// Facts about an https URL that the reader needs first; empty for any other URL.
  std::vector<std::string> https;
  std::vector<std::string> notes;
  const policy::RouteTable* routes = nullptr;  ///< must outlive the report
  config::Limits limits;                       ///< limits of the whole process
  Question question;
  Explanation explanation;

  const policy::Route& route() const { return (*routes)[explanation.route]; }
};

/// Returns about twenty lines. The first column is the topic of the line.
std::string to_text(const ExplainReport&);

/// Returns where the route is defined: `reprise.yaml:8`, `preset gcs:12` or `built-in`.
std::string place_of(const policy::Route&, const std::string& file);
/// Returns what the client gets at the end of the course with the longest waits.
std::string client_gets(const ExplainReport&);
/// Returns what `hold` does with the assumed response; empty if it is off or does not apply.
std::vector<std::string> held_back(const ExplainReport&);
/// A limit that the proxy enforces, whether or not this course reaches it.
struct ReportedLimit {
  std::string_view name;
  std::string text;
};
/// Returns the limits that apply to the request (row L20): replay, timeouts, connection, circuit, host pause.
std::vector<ReportedLimit> limits_of(const ExplainReport&);
/// Returns one sentence of advice for each reason with which a course ends.
std::vector<std::string> advices(const ExplainReport&);

}  // namespace reprise::tools
