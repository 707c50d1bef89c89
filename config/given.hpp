// Merges the values of flags and environment variables into the tree of a file. The file wins over variables;
// flags win over the file.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "config/keys/shortcut_table.hpp"
#include "config/yaml/document.hpp"
#include "config/yaml/problem.hpp"
#include "config/yaml/replace.hpp"

namespace reprise::config {

/// Names without dashes, and their values, in the order of the command line.
using Flags = std::vector<std::pair<std::string, std::string>>;

/// A value from a flag or a variable.
struct GivenValue {
  std::string source;  ///< `--deadline` or `REPRISE_DEADLINE`
  std::string path;    ///< path of the key
  std::string text;    ///< as given; `***` if it may hold a password
  bool used = true;    ///< false if the file or a flag wins over this variable
};

class GivenValues {
 public:
  /// Checks each value by itself. Problems name the flag or variable in place of a path.
  GivenValues(const Flags&, const Environment&, Report&);

  /// Inserts the values into `root` at the positions where a file would have them.
  void put_into(Node& root);
  /// Returns a mapping of the route keys that flags set. They win over the own keys of every route. It never
  /// contains `idempotent`, because only the route's own rule says which repeats its upstream can handle.
  const Node& over_routes() const { return over_routes_; }
  /// Replaces the path of each problem in these values by the flag or variable.
  void name_sources(std::vector<Problem>&) const;
  /// Returns the values in the order of the shortcut table. Call after put_into.
  std::vector<GivenValue> take() { return std::move(given_); }

 private:
  struct Value {
    const Shortcut* shortcut;
    std::string source;
    Node node;
    bool is_flag;
  };
  void add(const Shortcut&, std::string source, const std::string& text, bool is_flag, Report&);

  std::vector<Value> values_;
  std::vector<GivenValue> given_;
  Node over_routes_;
};

}  // namespace reprise::config
