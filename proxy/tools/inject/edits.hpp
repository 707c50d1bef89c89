// Adds, replaces and removes keys and list items in the text of a document, and leaves every other byte
// unchanged.
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

/// A key with its value, or a list item, written both as block YAML and as JSON.
struct Addition {
  std::string block;  ///< lines that end with \n and begin in column 1
  std::string json;   ///< on one line
};

/// Indents each line by `columns` blanks. Blank lines stay empty.
std::string indented(std::string_view lines, std::size_t columns, std::string_view line_end = "\n");
/// Returns the JSON forms of the items, joined by commas.
std::string json_items(const std::vector<Addition>&);
/// Returns a key whose value is a list of the items.
Addition list_entry(const std::string& key, const std::vector<Addition>& items);
/// Returns a key whose value is a mapping of the entries.
Addition mapping_entry(const std::string& key, const std::vector<Addition>& entries);

/// Collects the changes of one text. All nodes and offsets refer to the unchanged text. Several parts of the
/// text may share a node through an anchor. Such a node is changed once if all parts require the same change;
/// different changes are a fault. If one change lies inside the range of another change, only the outer
/// change is applied.
class Edits {
 public:
  explicit Edits(std::string_view text)
      : text_(text), line_end_(text.find("\r\n") == std::string_view::npos ? "\n" : "\r\n") {}

  /// Adds entries to a mapping before its entry at index `before`. Precondition: the mapping is not empty, or
  /// is written as `{}`.
  void add_entries(const Node& mapping, std::size_t before, const std::vector<Addition>&);
  /// Adds items at the front of a list.
  void add_items(const Node& list, const std::vector<Addition>&);
  /// Adds items at the end of a list.
  void append_items(const Node& list, const std::vector<Addition>&);
  /// Writes a value after a key whose value is null or missing.
  void fill(const Entry&, const std::string& json);
  /// Returns the spelling of a null value: everything between the colon and the end of the value.
  std::string written_null(const Entry&) const;
  /// Replaces a scalar that is on one line, and returns its old text.
  std::string replace(const Node& scalar, const std::string& json);

  /// Removes the items at these indexes of a list. Precondition: the indexes are ascending.
  void remove_items(const Node& list, const std::vector<std::size_t>& places);
  /// Removes the key and its value. Does nothing if the mapping does not have the key, or has it only through
  /// a merge key (`<<`).
  void remove_entry(const Node& mapping, std::string_view key);
  /// Removes the entries at these indexes of a mapping. Precondition: the indexes are ascending.
  void remove_entries(const Node& mapping, const std::vector<std::size_t>& places);
  /// Replaces everything from the colon of a key to the end of its value. Precondition: the value is written
  /// as `[..]` or `{..}`, or is a scalar on one line.
  void put_value(const Entry&, const std::string& written);
  /// Replaces a scalar that is on one line with `written`, its original spelling.
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

  /// Order of two changes at the same place: text added behind a value (`behind`) precedes text added before
  /// the next value (`before`).
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
  std::size_t colon_after(const Node& key) const;

  std::string_view text_;
  std::string_view line_end_;
  std::map<std::pair<std::size_t, Order>, Edit> edits_;
  std::optional<Fault> fault_;
};

}  // namespace reprise::tools
