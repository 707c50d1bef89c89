// What `reprise check` finds in one configuration file, as values, and how machines are told.
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
  std::vector<std::string> notes;         ///< what is no fault
  std::size_t routes = 0;                 ///< of a good file, without the default one

  int code = 0;            ///< to exit with; warnings do not count
  bool is_strict = false;  ///< warnings make it bad, too

  std::size_t errors() const;
  std::size_t warnings() const { return problems.size() - errors(); }
  bool is_good() const { return errors() == 0 && !(is_strict && warnings() > 0); }
};

/// Reads it, and what it names: files of TLS, of the authority; and makes a file where request bodies go.
Checked check_file(const std::string& file, const config::Flags&, const server::Limits&);

/// An array of `{file, ok, errors, warnings, notes}`; each error and warning is `{line, column, path,
/// message}` (null where there is none).
std::string as_json(const std::vector<Checked>&);

}  // namespace reprise::cli
