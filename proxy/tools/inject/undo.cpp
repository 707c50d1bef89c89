#include "proxy/tools/inject/undo.hpp"

#include <charconv>
#include <system_error>
#include <variant>

#include "proxy/tools/inject/sidecar.hpp"

namespace reprise::tools {

Undo Undo::read_from(const Node& container) {
  Undo undo;
  const Node* env = container.find("env");
  if (env == nullptr) return undo;
  for (const Node* variable : env->items) {
    if (variable->word("name") != undo_variable) continue;
    const auto facts = read(variable->word("value"));
    const Tree* tree = std::get_if<Tree>(&facts);
    if (tree == nullptr || tree->root == nullptr) return undo;
    for (const Entry& entry : tree->root->entries) undo.facts_[entry.key->text] = entry.value->text;
  }
  return undo;
}

std::optional<std::size_t> Undo::number(const std::string& place) const {
  const std::string_view text = fact(place);
  std::size_t number = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), number).ec != std::errc()) return std::nullopt;
  return number;
}

std::string Undo::json() const {
  std::string text;
  std::map<std::string, std::string> all = facts_;
  all.insert(counts_.begin(), counts_.end());
  for (const auto& [place, fact] : all)
    text.append(text.empty() ? "{" : ", ").append(json_string(place)).append(": ").append(json_string(fact));
  return text.empty() ? text : text + "}";
}

std::string_view Undo::fact(const std::string& place) const {
  const auto found = facts_.find(place);
  return found == facts_.end() ? std::string_view() : std::string_view(found->second);
}

std::optional<std::string> Undo::behind(std::string_view word, const std::string& place) const {
  const std::string_view text = fact(place);
  if (!text.starts_with(word)) return std::nullopt;
  return std::string(text.substr(word.size()));
}

}  // namespace reprise::tools
