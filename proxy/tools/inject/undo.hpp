// What `reprise inject --remove` needs to know of a pod as it was, where its text does not say it any more.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "proxy/tools/inject/manifest.hpp"

namespace reprise::tools {

/// The variable of our container that holds these facts.
inline constexpr std::string_view undo_variable = "INJECT_UNDO";

/// Facts by the place that they are about: `volumes`, `containers.0.env`, `containers.0.env.NO_PROXY`.
class Undo {
 public:
  /// Those that a container of ours has; empty: none were needed.
  static Undo read_from(const Node& container);

  /// There was such a list, maybe an empty one.
  void had_list(const std::string& place) { facts_[place] = "list"; }
  /// The value was null, and written so.
  void had_null(const std::string& place, const std::string& written) { facts_[place] = "null" + written; }
  /// The value was another, and written so.
  void had_value(const std::string& place, const std::string& written) { facts_[place] = "text" + written; }
  /// There was no such key.
  void had_none(const std::string& place) { facts_[place] = "none"; }
  /// It was there, as ours would be.
  void had(const std::string& place) { facts_[place] = "kept"; }
  /// One is ours; which one, in the words of its place.
  void added_one(const std::string& place, const std::string& which) { facts_[place] = "ours" + which; }
  /// So many entries of the list are ours, the last ones.
  void added(const std::string& place, std::size_t count) {
    counts_[place + ".behind"] = std::to_string(count);
  }
  void drop_counts() { counts_.clear(); }

  bool is_list(const std::string& place) const { return fact(place) == "list"; }
  bool is_none(const std::string& place) const { return fact(place) == "none"; }
  bool is_had(const std::string& place) const { return fact(place) == "kept"; }
  std::optional<std::string> null(const std::string& place) const { return behind("null", place); }
  std::optional<std::string> value(const std::string& place) const { return behind("text", place); }
  std::optional<std::string> one_added(const std::string& place) const { return behind("ours", place); }
  std::optional<std::size_t> count_behind(const std::string& place) const {
    return number(place + ".behind");
  }
  /// Written by builds that added variables in front (`Added`).
  std::optional<std::size_t> count_in_front(const std::string& place) const {
    return number(place + ".added");
  }

  /// A JSON object on one line; empty if there are no facts.
  std::string json() const;

 private:
  std::string_view fact(const std::string& place) const;
  std::optional<std::size_t> number(const std::string& place) const;
  std::optional<std::string> behind(std::string_view word, const std::string& place) const;

  std::map<std::string, std::string> facts_;
  std::map<std::string, std::string> counts_;  ///< those that are to be written
};

}  // namespace reprise::tools
