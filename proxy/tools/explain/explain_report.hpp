// An explanation as text for people and as JSON for programs.
#pragma once

#include <string>
#include <vector>

#include "config/settings.hpp"
#include "proxy/tools/explain/explanation.hpp"

namespace reprise::tools {

/// Everything that `explain` prints.
struct ExplainReport {
  std::string method;
  std::string url;       ///< as given
  std::string file;      ///< of the configuration, as given; empty: the built-in defaults
  std::string settings;  ///< where they come from, in words; empty: from the file
  std::string assumed;   ///< what every attempt comes to, in words
  /// What holds of an https URL before anything else; empty for any other.
  std::vector<std::string> https;
  std::vector<std::string> notes;
  const policy::RouteTable* routes = nullptr;  ///< must outlive the report
  config::Limits limits;                       ///< of the whole process
  Question question;
  Explanation explanation;

  const policy::Route& route() const { return (*routes)[explanation.route]; }
};

/// About twenty lines, each with what it is about in the first column.
std::string to_text(const ExplainReport&);
/// One object with the same; spans are milliseconds.
std::string to_json(const ExplainReport&);

/// `reprise.yaml:8`, `preset gcs:12` or `built-in`.
std::string place_of(const policy::Route&, const std::string& file);
/// What the client gets in the end, with the highest rolls.
std::string client_gets(const ExplainReport&);
/// What `hold` does with such a response; nothing where it is off or does not apply.
std::vector<std::string> held_back(const ExplainReport&);
/// A limit that the proxy keeps, whether or not this course meets it.
struct ReportedLimit {
  std::string_view name;
  std::string text;
};
/// Those that apply to the request (row L20): replay, timeouts, connection, circuit, host pause.
std::vector<ReportedLimit> limits_of(const ExplainReport&);
/// One sentence for each reason that a course ends with.
std::vector<std::string> advices(const ExplainReport&);

}  // namespace reprise::tools
