#include "proxy/tools/inject/manifest.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <exception>
#include <map>
#include <set>
#include <sstream>

namespace reprise::tools {
namespace {

constexpr std::size_t deepest_nesting = 100;

struct Stop : std::exception {
  explicit Stop(Fault what) : fault(std::move(what)) {}
  Fault fault;
};

Fault fault_at(const YAML::Mark& mark, std::string message) {
  return {static_cast<std::size_t>(mark.line) + 1, static_cast<std::size_t>(mark.column) + 1,
          std::move(message)};
}

// Builds the tree from parser events, because the nodes of yaml-cpp hide duplicate keys.
class Builder : public YAML::EventHandler {
 public:
  Builder(std::string_view text, std::size_t skipped) : text_(text) {
    for (std::size_t at = skipped; at != std::string_view::npos;) {
      lines_.push_back(at);
      const std::size_t end = text.find('\n', at);
      at = end == std::string_view::npos ? end : end + 1;
    }
  }

  Tree take() { return std::move(tree_); }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    place(make(Node::Kind::nothing, mark, anchor));
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const Node* node = anchors_[anchor];
    for (const Level& level : open_) {
      if (level.node == node) throw Stop(fault_at(mark, "an alias is inside the value that it refers to"));
    }
    place(node);
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    Node* node = make(Node::Kind::scalar, mark, anchor);
    node->text = value;
    node->is_quoted = tag != "?";
    place(node);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value style) override {
    begin(Node::Kind::list, mark, anchor, style);
  }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value style) override {
    begin(Node::Kind::mapping, mark, anchor, style);
  }
  void OnSequenceEnd() override { end(); }
  void OnMapEnd() override { end(); }

 private:
  struct Level {
    Node* node;
    const Node* key = nullptr;  // last key of the mapping, if its value has not been read yet
    std::set<std::string> keys{};
  };

  Node* make(Node::Kind kind, const YAML::Mark& mark, YAML::anchor_t anchor) {
    Node& node = tree_.nodes.emplace_back();
    node.kind = kind;
    node.line = static_cast<std::size_t>(mark.line) + 1;
    node.column = static_cast<std::size_t>(mark.column) + 1;
    if (node.line <= lines_.size())
      node.at = after_properties(lines_[node.line - 1] + static_cast<std::size_t>(mark.column));
    if (anchor != YAML::NullAnchor) anchors_[anchor] = &node;
    return &node;
  }

  // Skips an anchor (&a) and a tag (!!str) at `at`. Returns the offset of the value, which may be on a later
  // line.
  std::size_t after_properties(std::size_t at) const {
    while (at < text_.size() && (text_[at] == '&' || text_[at] == '!')) {
      at = std::min(text_.find_first_of(" \t\r\n", at), text_.size());
      while (at < text_.size() && (std::string_view(" \t\r\n#").find(text_[at]) != std::string_view::npos)) {
        if (text_[at] == '#') at = std::min(text_.find('\n', at), text_.size() - 1);
        ++at;
      }
    }
    return at;
  }

  void begin(Node::Kind kind, const YAML::Mark& mark, YAML::anchor_t anchor,
             YAML::EmitterStyle::value style) {
    if (open_.size() >= deepest_nesting) throw Stop(fault_at(mark, "nested too deeply"));
    Node* node = make(kind, mark, anchor);
    node->in_braces = style == YAML::EmitterStyle::Flow;
    open_.push_back({node});
  }

  void end() {
    const Node* node = open_.back().node;
    open_.pop_back();
    place(node);
  }

  void place(const Node* node) {
    if (open_.empty()) {
      if (node->kind != Node::Kind::nothing) tree_.root = node;
      return;
    }
    Level& level = open_.back();
    if (level.node->kind == Node::Kind::list) {
      level.node->items.push_back(node);
    } else if (level.key == nullptr) {
      level.key = node;
      judge_key(level, *node);
    } else {
      level.node->entries.push_back({level.key, node});
      level.key = nullptr;
    }
  }

  void judge_key(Level& level, const Node& key) {
    if (tree_.unlike_object) return;
    if (key.kind != Node::Kind::scalar) {
      tree_.unlike_object = {key.line, key.column,
                             "a key must be a word: is this a template that is not rendered yet?"};
    } else if (key.text != "<<" && !level.keys.insert(key.text).second) {
      tree_.unlike_object = {key.line, key.column, "the key " + key.text + " appears twice"};
    }
  }

  std::string_view text_;
  std::vector<std::size_t> lines_;  // offset of the start of each line
  Tree tree_;
  std::vector<Level> open_;
  std::map<YAML::anchor_t, const Node*> anchors_;
};

const Node* merged(const Node& value, std::string_view key) {
  if (value.kind == Node::Kind::mapping) return value.find(key);
  for (const Node* item : value.items) {
    if (const Node* found = item->find(key)) return found;
  }
  return nullptr;
}

}  // namespace

const Entry* Node::own(std::string_view key) const {
  for (const Entry& entry : entries) {
    if (entry.key->text == key && entry.key->kind == Kind::scalar) return &entry;
  }
  return nullptr;
}

const Node* Node::find(std::string_view key) const {
  if (const Entry* entry = own(key)) return entry->value;
  for (const Entry& entry : entries) {
    if (entry.key->text != "<<") continue;
    if (const Node* found = merged(*entry.value, key)) return found;
  }
  return nullptr;
}

std::string_view Node::word(std::string_view key) const {
  const Node* value = find(key);
  return value == nullptr ? std::string_view() : std::string_view(value->text);
}

std::variant<Tree, Fault> read(std::string_view text) {
  const std::size_t skipped = text.starts_with(byte_order_mark) ? byte_order_mark.size() : 0;
  std::istringstream stream{std::string(text.substr(skipped))};
  Builder builder(text, skipped);
  try {
    YAML::Parser parser(stream);
    parser.HandleNextDocument(builder);
  } catch (const YAML::Exception& error) {
    return fault_at(error.mark, error.msg);
  } catch (const Stop& stop) {
    return stop.fault;
  }
  return builder.take();
}

}  // namespace reprise::tools
