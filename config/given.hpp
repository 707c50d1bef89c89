// Values from flags and variables, put into the tree of a file: a file wins over variables, flags win over
// it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "config/keys/shortcut_table.hpp"
#include "config/yaml/document.hpp"
#include "config/yaml/problem.hpp"
#include "config/yaml/replace.hpp"

namespace reprise::config {

/// Names without dashes, and values, in the order of the command line.
using Flags = std::vector<std::pair<std::string, std::string>>;

/// A value that a flag or a variable has given.
struct GivenValue {
  std::string source;  ///< `--deadline` or `REPRISE_DEADLINE`
  std::string path;    ///< of the key
  std::string text;    ///< as given; `***` if it may hold a password
  bool used = true;    ///< false: the file has the key, and the source is a variable
};

class GivenValues {
 public:
  /// Judges each value alone. The path of a problem is the flag or the variable.
  GivenValues(const Flags&, const Environment&, Report&);

  /// Puts them where the file would have them.
  void put_into(Node& root);
  /// What flags set for every route, over the route's own keys: a mapping with keys of a route. Holds no
  /// `idempotent`, because a route's own rule says what its upstream can bear.
  const Node& over_routes() const { return over_routes_; }
  /// Calls problems of the values by the names of their sources.
  void name_sources(std::vector<Problem>&) const;
  /// In the order of the table. Call after put_into.
  std::vector<GivenValue> take() { return std::move(told_); }

 private:
  struct Value {
    const Shortcut* shortcut;
    std::string source;
    Node node;
    bool is_flag;
  };
  void add(const Shortcut&, std::string source, const std::string& text, bool is_flag, Report&);

  std::vector<Value> values_;
  std::vector<GivenValue> told_;
  Node over_routes_;
};

}  // namespace reprise::config
