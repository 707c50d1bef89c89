// The findings of `reprise check` in one configuration file, as values and as JSON.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "config/given.hpp"
#include "config/yaml/problem.hpp"
#include "proxy/server/cgroup/cgroup_limits.hpp"

namespace reprise::cli {

struct Checked {
  std::string file;
  std::vector<config::Problem> problems;  ///< errors and warnings
  std::vector<std::string> notes;         ///< remarks that are not problems
  std::size_t routes = 0;                 ///< number of routes of a valid file, without the default route

  int code = 0;            ///< exit code; does not depend on warnings
  bool is_strict = false;  ///< warnings count as errors

  std::size_t errors() const;
  std::size_t warnings() const { return problems.size() - errors(); }
  bool is_good() const { return errors() == 0 && !(is_strict && warnings() > 0); }
};

/// Checks the configuration and the files that it names (TLS files, the CA). Also creates a file in the
/// folder for request bodies, to see whether that works.
Checked check_file(const std::string& file, const config::Flags&, const server::Limits&);

/// Returns an array of `{file, ok, errors, warnings, notes}`. Each error and warning is `{line, column, path,
/// message}`, with null for an absent value.
std::string as_json(const std::vector<Checked>&);

}  // namespace reprise::cli
