// One document of a manifest as a tree of places in its text: what an edit needs to know, and no more.
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

/// What a file of some editors begins with.
inline constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

/// What is wrong, and where. Lines and columns from 1, in the text that was read.
struct Fault {
  std::size_t line = 1;
  std::size_t column = 1;
  std::string message;
};

struct Entry;

/// A value as written. An alias is the node that it stands for, so that one node may have several parents.
struct Node {
  enum class Kind : std::uint8_t { nothing, scalar, list, mapping };
  Kind kind = Kind::nothing;
  bool in_braces = false;  ///< `[..]` or `{..}`, as all of JSON is
  bool is_quoted = false;  ///< or has a tag: a string, whatever it looks like
  std::size_t at = 0;      ///< where it begins, behind its anchor and its tag; means nothing for `nothing`
  std::size_t line = 1;
  std::size_t column = 1;
  std::string text;  ///< scalar only
  std::vector<const Node*> items;
  std::vector<Entry> entries;

  /// The value of that key, its own or one that a merge key (`<<`) brings, or null.
  const Node* find(std::string_view key) const;
  /// Its own entry of that key, or null.
  const Entry* own(std::string_view key) const;
  /// The text of that key's scalar; empty if it has none.
  std::string_view word(std::string_view key) const;
};

struct Entry {
  const Node* key;
  const Node* value;
};

struct Tree {
  std::deque<Node> nodes;
  const Node* root = nullptr;  ///< null: the document is empty
  std::optional<Fault>
      unlike_object;  ///< a key twice, or one that is no word: YAML, but no Kubernetes object
};

/// Reads the first document of that text.
std::variant<Tree, Fault> read(std::string_view text);

}  // namespace reprise::tools
