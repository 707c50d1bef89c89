// A YAML file as a tree of texts with positions: the strict subset of YAML that a configuration may use.
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

/// A value as written, before any meaning. Lines and columns from 1.
struct Node {
  enum class Kind : std::uint8_t { nothing, scalar, list, mapping };
  Kind kind = Kind::nothing;
  std::size_t line = 0;
  std::size_t column = 0;
  std::string text;     ///< scalar only
  std::string origin;   ///< what was replaced in `text`, such as `${env:PORT}`: then `text` may be a secret
  bool broken = false;  ///< a replacement failed and was reported: `text` means nothing
  std::vector<Node> items;
  std::vector<Entry> entries;  ///< in file order, no key twice

  /// The value of that key of a mapping, or null.
  const Node* find(std::string_view key) const;
};

struct Entry {
  std::string key;
  std::size_t line = 0;
  std::size_t column = 0;
  Node value;
};

/// The node at a dotted path below `section`, or null.
const Node* locate(const Node& section, std::string_view path);
/// How a message names the text of a scalar: quoted and cut short; what replaced a `${..}` is never printed.
std::string shown(const Node&);
/// Control characters as \x04.
std::string printable(std::string_view text);
/// The same, quoted and cut after 60 characters.
std::string in_quotes(std::string_view text);

/// `path.key`, for messages.
std::string child_path(const std::string& path, std::string_view key);

inline constexpr std::size_t largest_file = 1024 * 1024;
inline constexpr std::size_t deepest_nesting = 32;

/// Anchors, aliases, tags, tabs, duplicate keys, a second document, and text that is no YAML are errors in
/// the report. Nothing is returned where the text has no tree at all.
std::optional<Node> parse_document(std::string_view text, Report&);

}  // namespace reprise::config
