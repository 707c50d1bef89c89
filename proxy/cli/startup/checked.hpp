// The findings of `reprise check` about one configuration file, as values and as JSON.
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
  std::size_t routes = 0;                 ///< number of routes in a valid file, without the default route

  int code = 0;            ///< exit code; warnings do not change it
  bool is_strict = false;  ///< true if warnings count as errors

  std::size_t errors() const;
  std::size_t warnings() const { return problems.size() - errors(); }
  bool is_good() const { return errors() == 0 && !(is_strict && warnings() > 0); }
};

/// Checks the configuration and all files that it names, such as TLS files and the certificate authority.
/// Also tests that a file can be created in the folder for request bodies.
Checked check_file(const std::string& file, const config::Flags&, const server::Limits&);

/// Returns an array of `{file, ok, errors, warnings, notes}`. Each error and warning is `{line, column, path,
/// message}`, with null for an absent value.
std::string as_json(const std::vector<Checked>&);

}  // namespace reprise::cli
