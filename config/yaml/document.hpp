// Parses a YAML file to a tree of texts with positions. Supports only the strict subset of YAML that a
// configuration may use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/yaml/report.hpp"

namespace reprise::config {

struct Entry;

/// A value as written, not interpreted. Lines and columns count from 1.
struct Node {
  enum class Kind : std::uint8_t { nothing, scalar, list, mapping };
  Kind kind = Kind::nothing;
  std::size_t line = 0;
  std::size_t column = 0;
  std::string text;     ///< set for a scalar only
  std::string origin;   ///< the `${..}` texts that were replaced; if any, `text` may be a secret
  bool broken = false;  ///< a replacement failed and was reported; ignore `text`
  std::vector<Node> items;
  std::vector<Entry> entries;  ///< in file order, without duplicate keys

  /// Returns the value of that key. Null if this node is not a mapping or has no such key.
  const Node* find(std::string_view key) const;
};

struct Entry {
  std::string key;
  std::size_t line = 0;
  std::size_t column = 0;
  Node value;
};

/// Returns the node at a dotted path below `section`. Null if there is no such node.
const Node* locate(const Node& section, std::string_view path);
/// Returns the text of a scalar for a message, quoted and shortened. If the text was replaced, returns the
/// `${..}` and not its value.
std::string shown(const Node&);
/// Returns the text with control characters written as \x04.
std::string printable(std::string_view text);
/// Returns the text in quotes, printable and cut after 60 characters.
std::string in_quotes(std::string_view text);

/// Returns the path of a child, `path.key`, for messages.
std::string child_path(const std::string& path, std::string_view key);

inline constexpr std::size_t largest_file = 1024 * 1024;
inline constexpr std::size_t deepest_nesting = 32;

/// Parses the text of a file. Reports anchors, aliases, tags, tabs, duplicate keys, a second document, and
/// invalid YAML as errors. Returns nothing if there is no usable tree.
std::optional<Node> parse_document(std::string_view text, Report&);

}  // namespace reprise::config
