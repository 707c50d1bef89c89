// Merges values from flags and environment variables into the tree of a file. The file wins over variables,
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
  bool used = true;    ///< false: the file wins over this variable, or a flag does
};

class GivenValues {
 public:
  /// Checks each value on its own. The path of a problem is the name of the flag or variable.
  GivenValues(const Flags&, const Environment&, Report&);

  /// Inserts the values into `root` at the places that a file would use.
  void put_into(Node& root);
  /// Returns the keys that flags set for every route, over the route's own keys, as a mapping with keys of a
  /// route. It never holds `idempotent`, because only a route's own rule knows what its upstream can handle.
  const Node& over_routes() const { return over_routes_; }
  /// Replaces the paths of problems in these values by the names of their sources.
  void name_sources(std::vector<Problem>&) const;
  /// Returns the values in the order of the table. Call after put_into.
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
