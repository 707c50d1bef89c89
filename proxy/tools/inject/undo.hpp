// Facts about the original pod that `reprise inject --remove` needs and that the changed text no longer
// shows.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "proxy/tools/inject/manifest.hpp"

namespace reprise::tools {

/// Environment variable in the container of reprise that stores the facts about the original pod.
inline constexpr std::string_view undo_variable = "INJECT_UNDO";

/// Facts about the original pod, keyed by a path in the pod, for example `containers.0.env.NO_PROXY`.
class Undo {
 public:
  /// Reads the facts that the container of reprise stores; empty if the container stores none.
  static Undo read_from(const Node& container);

  /// Records that the list at `place` existed before inject(), even if it was empty.
  void had_list(const std::string& place) { facts_[place] = "list"; }
  /// Records that the value at `place` was null. `written` is the spelling of the null in the manifest.
  void had_null(const std::string& place, const std::string& written) { facts_[place] = "null" + written; }
  /// Records that inject() replaced the value at `place`. `written` is the old value as spelled in the
  /// manifest.
  void had_value(const std::string& place, const std::string& written) { facts_[place] = "text" + written; }
  /// Records that the key at `place` did not exist before inject().
  void had_none(const std::string& place) { facts_[place] = "none"; }
  /// Records that the entry at `place` already existed with the value that inject() writes.
  void had(const std::string& place) { facts_[place] = "kept"; }
  /// Records that inject() added an entry at `place`. `which` is the name of this entry (may be empty).
  void added_one(const std::string& place, const std::string& which) { facts_[place] = "ours" + which; }
  /// Records that inject() added the last `count` entries of the list at `place`.
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
  std::optional<std::size_t> count_at_end(const std::string& place) const {
    return number(place + ".behind");
  }
  /// Returns how many entries an older build added at the front of the list; nothing if this number is not
  /// recorded (see `Added`).
  std::optional<std::size_t> count_at_front(const std::string& place) const {
    return number(place + ".added");
  }

  /// Returns a JSON object on one line; empty if there are no facts.
  std::string json() const;

 private:
  std::string_view fact(const std::string& place) const;
  std::optional<std::size_t> number(const std::string& place) const;
  std::optional<std::string> behind(std::string_view word, const std::string& place) const;

  std::map<std::string, std::string> facts_;
  /// Number of entries that inject() added to each list. The changed text does not show these numbers.
  std::map<std::string, std::string> counts_;
};

}  // namespace reprise::tools
