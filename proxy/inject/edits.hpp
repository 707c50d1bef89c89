// Changes of a document's text that leave every other byte as it is: more keys, more items, another value.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proxy/inject/manifest.hpp"

namespace reprise::inject {

/// A key with its value, or an item, in both ways of writing.
struct Addition {
  std::string block;  ///< lines that end with \n, from column 1
  std::string json;   ///< on one line
};

/// Collects changes of one text, all told by the places in that text. An anchor's node is changed once,
/// whoever asks for it; where two ask for different changes, that is the fault.
class Edits {
 public:
  explicit Edits(std::string_view text)
      : text_(text), line_end_(text.find("\r\n") == std::string_view::npos ? "\n" : "\r\n") {}

  /// Before the entry of that number of a mapping, which is not empty.
  void add_entries(const Node& mapping, std::size_t before, const std::vector<Addition>&);
  /// At the front of a list.
  void add_items(const Node& list, const std::vector<Addition>&);
  /// In the place of a null, or of nothing at all, behind a key.
  void fill(const Entry&, const std::string& json);
  /// In the place of a scalar that stands on one line.
  void replace(const Node& scalar, const std::string& json);

  const std::optional<Fault>& fault() const { return fault_; }
  bool empty() const { return edits_.empty(); }
  std::string applied() const;

 private:
  struct Edit {
    std::size_t erased = 0;
    std::string added;
    bool operator==(const Edit&) const = default;
  };

  void put(std::size_t at, std::size_t erased, std::string added, const Node& for_whom);
  void refuse(const Node&, std::string message);
  std::size_t line_start(std::size_t at) const;
  std::string indented(std::string_view lines, std::size_t columns) const;
  std::size_t end_of_scalar(const Node&) const;

  std::string_view text_;
  std::string_view line_end_;
  std::map<std::size_t, Edit> edits_;
  std::optional<Fault> fault_;
};

}  // namespace reprise::inject
