// Changes of a document's text that leave every other byte as it is: more keys, more items, another value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proxy/tools/inject/manifest.hpp"

namespace reprise::tools {

/// A key with its value, or an item, in both ways of writing.
struct Addition {
  std::string block;  ///< lines that end with \n, from column 1
  std::string json;   ///< on one line
};

/// Each line behind so many blanks; a blank one stays empty.
std::string indented(std::string_view lines, std::size_t columns, std::string_view line_end = "\n");
/// A comma between two.
std::string json_items(const std::vector<Addition>&);
/// A key with a list of those items.
Addition list_entry(const std::string& key, const std::vector<Addition>& items);
/// A key with a mapping of those entries.
Addition mapping_entry(const std::string& key, const std::vector<Addition>& entries);

/// Collects changes of one text, all told by the places in that text. An anchor's node is changed once,
/// whoever asks for it; where two ask for different changes, that is the fault.
class Edits {
 public:
  explicit Edits(std::string_view text)
      : text_(text), line_end_(text.find("\r\n") == std::string_view::npos ? "\n" : "\r\n") {}

  /// Before the entry of that number of a mapping, which is not empty unless it is in braces.
  void add_entries(const Node& mapping, std::size_t before, const std::vector<Addition>&);
  /// At the front of a list.
  void add_items(const Node& list, const std::vector<Addition>&);
  /// At the end of a list.
  void add_items_behind(const Node& list, const std::vector<Addition>&);
  /// In the place of a null, or of nothing at all, behind a key.
  void fill(const Entry&, const std::string& json);
  /// What is written there: all between the colon and the end of the null.
  std::string written_null(const Entry&) const;
  /// In the place of a scalar that stands on one line. Returns what was written there.
  std::string replace(const Node& scalar, const std::string& json);

  // The way back. Ranges that lie within one another are allowed: the outer one counts.
  /// Removes items of a list, by their places, ascending.
  void remove_items(const Node& list, const std::vector<std::size_t>& places);
  /// Removes that key of the mapping's own, with its value.
  void remove_entry(const Node& mapping, std::string_view key);
  /// Removes keys with their values, by their places, ascending.
  void remove_entries(const Node& mapping, const std::vector<std::size_t>& places);
  /// Puts that text between the colon of a key and the end of its value, which is in braces or a scalar on
  /// one line.
  void put_value(const Entry&, const std::string& written);
  /// In the place of a scalar that stands on one line.
  void replace_as_written(const Node& scalar, const std::string& written) { replace(scalar, written); }

  const std::optional<Fault>& fault() const { return fault_; }
  bool empty() const { return edits_.empty(); }
  std::string applied() const;

 private:
  struct Edit {
    std::size_t erased = 0;
    std::string added;
    bool operator==(const Edit&) const = default;
  };

  /// Of two changes at one place: what ends something comes before what begins something.
  enum class Order : std::uint8_t { behind, before };
  void put(std::size_t at, std::size_t erased, std::string added, const Node& for_whom,
           Order = Order::before);
  void refuse(const Node&, std::string message);
  std::size_t line_start(std::size_t at) const;
  std::string item_lines(const std::vector<Addition>&, std::size_t columns) const;
  std::size_t end_of_scalar(const Node&) const;
  std::size_t end_of_value(const Node&) const;
  std::size_t end_of_block(std::size_t start, std::size_t columns, bool is_list = false) const;
  std::size_t end_of_last(const Node& list) const;
  void remove_lines(std::size_t start, std::size_t end, const Node& for_whom);
  std::size_t dash_of(const Node& list, const Node& item) const;
  std::size_t colon_behind(const Node& key) const;

  std::string_view text_;
  std::string_view line_end_;
  std::map<std::pair<std::size_t, Order>, Edit> edits_;
  std::optional<Fault> fault_;
};

}  // namespace reprise::tools
