// An explanation as text for people, and the sentences that it has in common with the JSON.
#pragma once

#include <string>
#include <vector>

#include "config/settings.hpp"
#include "proxy/tools/explain/explanation.hpp"

namespace reprise::tools {

/// Everything that `explain` prints.
struct ExplainReport {
  std::string method;
  std::string url;       ///< as given on the command line
  std::string file;      ///< name of the configuration file as given; empty: the built-in defaults
  std::string settings;  ///< where the settings come from, in words; empty: from the file
  std::string assumed;   ///< the assumed outcome of every attempt, in words
  /// Facts about an https URL that the reader must know first; empty for any other URL.
  std::vector<std::string> https;
  std::vector<std::string> notes;
  const policy::RouteTable* routes = nullptr;  ///< must outlive the report
  config::Limits limits;                       ///< limits of the whole process
  Question question;
  Explanation explanation;

  const policy::Route& route() const { return (*routes)[explanation.route]; }
};

/// Returns about twenty lines. The first column says what each line is about.
std::string to_text(const ExplainReport&);

/// Returns `reprise.yaml:8`, `preset gcs:12` or `built-in`.
std::string place_of(const policy::Route&, const std::string& file);
/// Returns what the client gets in the end, with the highest dice rolls.
std::string client_gets(const ExplainReport&);
/// Returns what `hold` does with such a response; empty if it is off or does not apply.
std::vector<std::string> held_back(const ExplainReport&);
/// A limit that the proxy enforces, whether or not this course reaches it.
struct ReportedLimit {
  std::string_view name;
  std::string text;
};
/// Returns the limits that apply to the request (row L20): replay, timeouts, connection, circuit, host pause.
std::vector<ReportedLimit> limits_of(const ExplainReport&);
/// Returns one sentence for each reason that ends a course.
std::vector<std::string> advices(const ExplainReport&);

}  // namespace reprise::tools
