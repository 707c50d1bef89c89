// Parses one document of a manifest into a tree with places in its text: only what edits need.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace reprise::tools {

/// The first bytes of a file from some editors.
inline constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

/// What is wrong, and where. Lines and columns of the text, from 1.
struct Fault {
  std::size_t line = 1;
  std::size_t column = 1;
  std::string message;
};

struct Entry;

/// A value as written. An alias is the node that it refers to, so a node may have several parents.
struct Node {
  enum class Kind : std::uint8_t { nothing, scalar, list, mapping };
  Kind kind = Kind::nothing;
  bool in_braces = false;  ///< `[..]` or `{..}`, as everything in JSON
  bool is_quoted = false;  ///< quoted or tagged: a string, whatever it looks like
  std::size_t at = 0;      ///< where it begins, after its anchor and tag; undefined for `nothing`
  std::size_t line = 1;
  std::size_t column = 1;
  std::string text;  ///< only for a scalar
  std::vector<const Node*> items;
  std::vector<Entry> entries;

  /// Returns the key's value, the mapping's own or one from a merge key (`<<`); null if there is none.
  const Node* find(std::string_view key) const;
  /// Returns the mapping's own entry for the key, or null.
  const Entry* own(std::string_view key) const;
  /// Returns the text of the key's scalar; empty if there is none.
  std::string_view word(std::string_view key) const;
};

struct Entry {
  const Node* key;
  const Node* value;
};

struct Tree {
  std::deque<Node> nodes;
  const Node* root = nullptr;  ///< null if the document is empty
  std::optional<Fault>
      /// a duplicate key, or a key that is not a scalar: valid YAML, but not a Kubernetes object
      unlike_object;
};

/// Parses the first document of the text.
std::variant<Tree, Fault> read(std::string_view text);

}  // namespace reprise::tools
