// Parses one document of a manifest into a tree whose nodes have their positions in the text.
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

/// The byte order mark of UTF-8. Some editors write it at the start of a file.
inline constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

/// A fault and its position. Lines and columns of the text count from 1.
struct Fault {
  std::size_t line = 1;
  std::size_t column = 1;
  std::string message;
};

struct Entry;

/// A YAML value and its position. An alias is represented by the node to which it refers, so a node may have
/// several parents.
struct Node {
  enum class Kind : std::uint8_t { nothing, scalar, list, mapping };
  Kind kind = Kind::nothing;
  bool in_braces = false;  ///< written as `[..]` or `{..}`, like everything in JSON
  /// The value is quoted or tagged, so it is a string even if it looks like a number or boolean.
  bool is_quoted = false;
  /// Offset of the value's first byte in the text, after any anchor and tag; undefined if `kind` is
  /// `nothing`.
  std::size_t at = 0;
  std::size_t line = 1;
  std::size_t column = 1;
  std::string text;  ///< set for a scalar only
  std::vector<const Node*> items;
  std::vector<Entry> entries;

  /// Returns the value of the key, in the mapping itself or from a merge key (`<<`). Null if there is none.
  const Node* find(std::string_view key) const;
  /// Returns the entry of the key in the mapping itself. Null if there is none.
  const Entry* own(std::string_view key) const;
  /// Returns the text of the key's value if it is a scalar; otherwise an empty text.
  std::string_view word(std::string_view key) const;
};

struct Entry {
  const Node* key;
  const Node* value;
};

struct Tree {
  std::deque<Node> nodes;
  const Node* root = nullptr;  ///< null if the document is empty
  /// The fault of the first key that is a duplicate or not a scalar. YAML allows such keys, but a Kubernetes
  /// object does not. Absent if there is no such key.
  std::optional<Fault> unlike_object;
};

/// Parses the first document of the text.
std::variant<Tree, Fault> read(std::string_view text);

}  // namespace reprise::tools
