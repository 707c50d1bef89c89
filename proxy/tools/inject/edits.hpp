// Changes a document's text and leaves every other byte unchanged: adds keys and items, replaces values.
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

/// A key with its value, or a list item, in block form and in JSON form.
struct Addition {
  std::string block;  ///< lines that end with \n, from column 1
  std::string json;   ///< on one line
};

/// Indents each line by `columns` blanks. A blank line stays empty.
std::string indented(std::string_view lines, std::size_t columns, std::string_view line_end = "\n");
/// Joins the items with commas.
std::string json_items(const std::vector<Addition>&);
/// Returns a key with a list of the items.
Addition list_entry(const std::string& key, const std::vector<Addition>& items);
/// Returns a key with a mapping of the entries.
Addition mapping_entry(const std::string& key, const std::vector<Addition>& entries);

/// Collects changes of one text. All places refer to the unchanged text. The node of an anchor is changed
/// once, even if several parts request the change. If they request different changes, that is a fault.
class Edits {
 public:
  explicit Edits(std::string_view text)
      : text_(text), line_end_(text.find("\r\n") == std::string_view::npos ? "\n" : "\r\n") {}

  /// Adds entries before the entry with number `before`. Precondition: the mapping is not empty, unless it is
  /// in braces.
  void add_entries(const Node& mapping, std::size_t before, const std::vector<Addition>&);
  /// Adds items at the front of a list.
  void add_items(const Node& list, const std::vector<Addition>&);
  /// Adds items at the end of a list.
  void append_items(const Node& list, const std::vector<Addition>&);
  /// Replaces a null, or an empty value, after a key.
  void fill(const Entry&, const std::string& json);
  /// Returns the text of a null: everything between the colon and the end of the null.
  std::string written_null(const Entry&) const;
  /// Replaces a scalar that is on one line. Returns its old text.
  std::string replace(const Node& scalar, const std::string& json);

  // The functions below remove or restore. A range may be inside another one; the outer one counts.
  /// Removes items of a list, by their places, ascending.
  void remove_items(const Node& list, const std::vector<std::size_t>& places);
  /// Removes the mapping's own key, with its value.
  void remove_entry(const Node& mapping, std::string_view key);
  /// Removes keys with their values, by their places, ascending.
  void remove_entries(const Node& mapping, const std::vector<std::size_t>& places);
  /// Replaces everything from the colon of a key to the end of its value. Precondition: the value is in
  /// braces, or is a scalar on one line.
  void put_value(const Entry&, const std::string& written);
  /// Replaces a scalar that is on one line.
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

  /// Order of two changes at the same place: one that ends a value comes before one that begins a value.
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
