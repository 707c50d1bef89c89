// Merges the values of flags and environment variables into the parsed tree of a configuration file. The file
// wins over variables; flags win over the file.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "config/keys/shortcut_table.hpp"
#include "config/yaml/document.hpp"
#include "config/yaml/problem.hpp"
#include "config/yaml/replace.hpp"

namespace reprise::config {

/// The flags: pairs of name (without dashes) and value, in the order of the command line.
using Flags = std::vector<std::pair<std::string, std::string>>;

/// A value from a flag or a variable.
struct GivenValue {
  std::string source;  ///< `--deadline` or `REPRISE_DEADLINE`
  std::string path;    ///< path of the key
  std::string text;    ///< the value as given; `***` if it may hold a password
  bool used = true;    ///< false if the file or a flag wins over this variable
};

class GivenValues {
 public:
  /// Checks each value separately. A reported problem names the flag or variable, not the path of a key.
  GivenValues(const Flags&, const Environment&, Report&);

  /// Inserts the values into `root` at the positions where a file would have them.
  void put_into(Node& root);
  /// Returns a mapping of the route keys that flags set. These values win over the keys of every route. The
  /// mapping never contains `idempotent`, because only the rule of a route says which repeated requests its
  /// upstream can handle.
  const Node& over_routes() const { return over_routes_; }
  /// In each problem that the value of a flag or variable causes, replaces the path by the name of that flag
  /// or variable.
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
