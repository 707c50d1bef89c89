#include "config/yaml/document.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <exception>
#include <map>
#include <sstream>
#include <utility>

#include "config/yaml/raw_text.hpp"
#include "config/yaml/yaml_mistake.hpp"

namespace reprise::config {
namespace {

// Ends the parsing early. The reason has been reported before the throw.
struct Stop : std::exception {};

// Builds the tree from parser events, because the nodes of yaml-cpp hide duplicate keys and the positions of
// aliases.
class Builder : public YAML::EventHandler {
 public:
  Builder(std::string_view text, Report& report) : text_(text), report_(report) {}

  std::optional<Node> take() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ < 2) return;
    refuse(mark, "a second document begins here: a file must contain only one document");
    throw Stop();
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    look(mark, {}, anchor);
    place(node(Node::Kind::nothing, mark));
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    refuse(mark, "aliases (*name) are not allowed: write the value again");
    Node value = node(Node::Kind::nothing, mark);
    value.broken = true;
    place(std::move(value));
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    look(mark, tag, anchor);
    Node scalar = node(Node::Kind::scalar, mark);
    scalar.text = value;
    place(std::move(scalar));
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    look(mark, tag, anchor);
    open(Node::Kind::list, mark);
  }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    look(mark, tag, anchor);
    open(Node::Kind::mapping, mark);
  }

  void OnSequenceEnd() override { close(); }
  void OnMapEnd() override { close(); }

 private:
  struct Level {
    Node node;
    std::optional<Entry> pending;  // key whose value has not been read yet
    std::map<std::string, std::size_t>
        keys;  // the keys of this mapping that were read so far, and their lines
  };

  static Node node(Node::Kind kind, const YAML::Mark& mark) {
    Node made;
    made.kind = kind;
    made.line = static_cast<std::size_t>(std::max(mark.line, 0)) + 1;
    made.column = static_cast<std::size_t>(std::max(mark.column, 0)) + 1;
    return made;
  }

  void refuse(const YAML::Mark& mark, std::string message) {
    const Node at = node(Node::Kind::nothing, mark);
    report_.error(at.line, at.column, {}, std::move(message));
  }

  // Rejects anchors and explicit tags. yaml-cpp reports the tag "!" for a quoted scalar too. Such a tag
  // counts as explicit only if the file has a `!` at this position.
  void look(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
    if (anchor != 0)
      refuse(mark, "anchors (&name) are not allowed: write the value again where it is needed");
    const auto at = static_cast<std::size_t>(std::max(mark.pos, 0));
    const bool written = tag == "!" && at < text_.size() && text_[at] == '!';
    if (written || (!tag.empty() && tag != "?" && tag != "!"))
      refuse(mark, "tags (!name) are not allowed: remove the tag");
  }

  void open(Node::Kind kind, const YAML::Mark& mark) {
    if (levels_.size() == deepest_nesting) {
      refuse(mark, "nesting is deeper than " + std::to_string(deepest_nesting) + " levels");
      throw Stop();
    }
    levels_.push_back({node(kind, mark), std::nullopt, {}});
  }

  void close() {
    Node done = std::move(levels_.back().node);
    levels_.pop_back();
    place(std::move(done));
  }

  void place(Node value) {
    if (levels_.empty()) {
      root_ = std::move(value);
      return;
    }
    Level& level = levels_.back();
    if (level.node.kind == Node::Kind::list) {
      level.node.items.push_back(std::move(value));
    } else if (!level.pending) {
      take_key(level, std::move(value));
    } else {
      put(level, std::move(value));
    }
  }

  void take_key(Level& level, Node key) {
    if (key.kind != Node::Kind::scalar && !key.broken)
      report_.error(key.line, key.column, {}, "a key must be a word: this is a " + kind_of(key));
    level.pending = Entry{std::move(key.text), key.line, key.column, {}};
    level.pending->value.broken = key.kind != Node::Kind::scalar;
  }

  void put(Level& level, Node value) {
    Entry entry = *std::exchange(level.pending, std::nullopt);
    if (entry.value.broken) return;
    // If a value is absent, the parser reports a wrong position for it, so the position of the key is used.
    if (value.kind == Node::Kind::nothing && !value.broken) {
      value.line = entry.line;
      value.column = entry.column;
    }
    const auto [first, is_new] = level.keys.emplace(entry.key, entry.line);
    if (!is_new) {
      if (report_.full()) throw Stop();
      report_.error(entry.line, entry.column, {},
                    "key " + in_quotes(entry.key) + " is written twice: the first is in line " +
                        std::to_string(first->second));
      return;
    }
    entry.value = std::move(value);
    level.node.entries.push_back(std::move(entry));
  }

  static std::string kind_of(const Node& node) {
    if (node.kind == Node::Kind::list) return "list";
    return node.kind == Node::Kind::mapping ? "mapping" : "null";
  }

  std::string_view text_;
  Report& report_;
  int documents_ = 0;
  std::vector<Level> levels_;
  std::optional<Node> root_;
};

}  // namespace

const Node* locate(const Node& section, std::string_view path) {
  const Node* node = &section;
  while (node != nullptr && !path.empty()) {
    const std::size_t dot = path.find('.');
    node = node->find(path.substr(0, dot));
    path = dot == std::string_view::npos ? std::string_view() : path.substr(dot + 1);
  }
  return node;
}

const Node* Node::find(std::string_view key) const {
  const auto found =
      std::find_if(entries.begin(), entries.end(), [&](const Entry& entry) { return entry.key == key; });
  return found == entries.end() ? nullptr : &found->value;
}

std::string printable(std::string_view text) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string result;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte != 0x7f) {
      result.push_back(c);
      continue;
    }
    result.append("\\x");
    result.push_back(digits[byte >> 4U]);
    result.push_back(digits[byte & 15U]);
  }
  return result;
}

std::string in_quotes(std::string_view text) {
  constexpr std::size_t longest = 60;
  return "\"" + printable(text.substr(0, longest)) + (text.size() > longest ? "...\"" : "\"");
}

std::string shown(const Node& node) {
  return node.origin.empty() ? in_quotes(node.text) : "the value of " + node.origin;
}

std::string child_path(const std::string& path, std::string_view key) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  };
  const bool bare = !key.empty() && std::all_of(key.begin(), key.end(), plain);
  const std::string step = bare ? std::string(key) : in_quotes(key);
  return path.empty() ? step : path + "." + step;
}

std::optional<Node> parse_document(std::string_view text, Report& report) {
  const auto clean = clean_text(text, report);
  if (!clean) return std::nullopt;
  std::istringstream stream(clean->text);
  Builder builder(clean->text, report);
  try {
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) continue;
  } catch (const Stop&) {
    return builder.take();
  } catch (const YAML::Exception& problem) {
    // The parser has read blanks in place of the file's tabs, so the parser's error message would mislead.
    if (clean->had_tabs) return std::nullopt;
    YamlMistake mistake =
        find_mistake(clean->text, static_cast<std::size_t>(std::max(problem.mark.line, 0)) + 1,
                     static_cast<std::size_t>(std::max(problem.mark.column, 0)) + 1);
    report.error(mistake.line, mistake.column, {}, printable(mistake.message));
    return std::nullopt;
  }
  return builder.take();
}

}  // namespace reprise::config
