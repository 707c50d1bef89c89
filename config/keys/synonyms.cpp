#include "config/keys/synonyms.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "config/keys/scalar.hpp"
#include "config/keys/synonym_table.hpp"
#include "config/keys/values.hpp"
#include "proxy/policy/match/ascii.hpp"

namespace reprise::config {
namespace {

constexpr std::size_t longest = 60;

// Returns `path` relative to `parent`. If `parent` itself has a key with the same last part, returns the name
// of that key.
std::string_view seen_from(std::string_view parent, std::string_view path) {
  const std::string own = std::string(parent).append(".").append(last_part(path));
  if (!parent.empty() && find_key(own) != nullptr) return last_part(path);
  const std::string inherited = inherited_path(parent);
  const std::string below = (inherited.empty() ? std::string(parent) : inherited) + ".";
  return path.starts_with(below) ? path.substr(below.size()) : path;
}

bool is_among(std::string_view texts, std::string_view text) {
  const auto words = split_words(texts);
  return std::find(words.begin(), words.end(), text) != words.end();
}

/// Returns the value as it must be written inside braces or brackets, in quotes if necessary.
std::string in_flow(std::string_view text) {
  const bool plain = !text.empty() && text.find_first_of("\"'#{}[], ") == std::string_view::npos &&
                     std::string_view("*&!|>%@`").find(text.front()) == std::string_view::npos;
  return plain ? std::string(text) : "\"" + std::string(text) + "\"";
}

/// Splits a text such as `a, b` at its commas.
std::vector<std::string> parts_of(std::string_view text) {
  std::vector<std::string> parts;
  for (std::size_t from = 0; (from = text.find_first_not_of(", ", from)) != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_of(", ", from), text.size());
    parts.emplace_back(text.substr(from, end - from));
    from = end;
  }
  return parts;
}

Node scalar_of(std::string text) {
  Node node;
  node.kind = Node::Kind::scalar;
  node.text = std::move(text);
  return node;
}

bool is_list(const Key& key) { return key.kind == Kind::list && key.item != Kind::mapping; }

/// Returns true if the key accepts only texts of a special form, such as durations. If such a key accepts a
/// text, the author of the text probably meant this key.
bool identifies_key(const Key& key) {
  switch (is_list(key) ? key.item : key.kind) {
    case Kind::text:
    case Kind::name:
    case Kind::route:
    case Kind::pairs:
    case Kind::rule:
    case Kind::predicates:
    case Kind::mapping:
    case Kind::list:
    case Kind::method:
    case Kind::version_field: return false;
    default: return true;
  }
}

/// Returns `[a, b]` if each text is a valid item; otherwise an empty text. With `may_correct`, replaces
/// invalid items by suggestions.
std::string list_of(const Key& key, const std::vector<std::string>& texts, bool may_correct) {
  std::string list;
  for (const std::string& text : texts) {
    const bool fits = !complaint(key, scalar_of(text));
    const std::string item = fits ? in_flow(text) : (may_correct ? correction(key, text) : std::string());
    if (item.empty()) return {};
    list.append(list.empty() ? "[" : ", ").append(item);
  }
  return list.empty() ? list : list + "]";
}

std::string value_for(const Key& key, std::string_view text, bool may_correct) {
  if (is_list(key)) return list_of(key, {std::string(text)}, may_correct);
  if (!complaint(key, scalar_of(std::string(text)))) return in_flow(text);
  return may_correct ? correction(key, text) : std::string();
}

/// If the author wrote a single text in place of the section, returns the key that this text was probably
/// meant for. Empty if no key is more probable than the others.
std::string_view preferred_key(std::string_view section, std::string_view text) {
  if (section == "shutdown") return "grace";
  if (section == "defaults.circuit" && parse_duration(text)) return "open";
  return {};
}

/// Suggests a mapping for a text that was written in place of a section, such as `{after: 100ms}` for
/// `100ms`. The mapping has the first key that accepts the text.
std::string mapping_for(std::string_view schema, const Key& section, std::string_view text) {
  std::vector<const Key*> keys = keys_under(schema);
  const std::string_view first = preferred_key(section.path, text);
  std::stable_partition(keys.begin(), keys.end(),
                        [&](const Key* key) { return last_part(key->path) == first; });
  for (const bool may_correct : {false, true}) {
    for (const Key* const key : keys) {
      if (!identifies_key(*key)) continue;
      const std::string value = value_for(*key, text, may_correct);
      if (!value.empty()) return "{" + std::string(last_part(key->path)) + ": " + value + "}";
    }
  }
  return {};
}

/// Suggests a mapping for a list that was written in place of a section, such as `{on: [503]}` for `[503]`.
std::string mapping_for(std::string_view schema, const std::vector<std::string>& texts) {
  for (const Key* const key : keys_under(schema)) {
    if (!is_list(*key)) continue;
    const std::string list = list_of(*key, texts, true);
    if (!list.empty()) return "{" + std::string(last_part(key->path)) + ": " + list + "}";
  }
  return {};
}

/// Returns the texts of a list. Returns nothing if an item is not a scalar, or must not be printed.
std::optional<std::vector<std::string>> texts_of(const Node& list) {
  std::vector<std::string> texts;
  for (const Node& item : list.items) {
    if (item.kind != Node::Kind::scalar || item.broken || !item.origin.empty()) return std::nullopt;
    texts.push_back(item.text);
  }
  return texts;
}

std::string meant_list(std::string_view schema, const Key& key, const Node& node) {
  if (node.kind == Node::Kind::mapping)
    return key.item == Kind::mapping ? "a list: write - before its first key" : "";
  if (key.item != Kind::mapping) return list_of(key, parts_of(node.text), true);
  if (const Key* const name = find_key(std::string(schema) + "[].name");
      name != nullptr && name->kind == Kind::word)
    return list_of(*name, parts_of(node.text), true);
  const std::string item = mapping_for(std::string(schema) + "[]", key, node.text);
  return item.empty() ? item : "[" + item + "]";
}

std::string_view section_of(std::string_view path) {
  const std::size_t dot = path.rfind('.');
  return dot == std::string_view::npos ? std::string_view() : path.substr(0, dot);
}

/// Suggests the plural key for a list, such as `hosts: [a, b]` at `host`.
std::string plural_of(std::string_view schema, const std::vector<std::string>& texts) {
  const std::string plural = std::string(last_part(schema)) + "s";
  const Key* const key = find_key(std::string(section_of(schema)) + "." + plural);
  if (key == nullptr || !is_list(*key)) return {};
  const std::string list = list_of(*key, texts, true);
  return list.empty() ? list : plural + ": " + list;
}

}  // namespace

std::string synonym(std::string_view parent, std::string_view word) {
  const std::string wanted = folded(word);
  const auto* const found = std::find_if(synonym_table.begin(), synonym_table.end(),
                                         [&](const Synonym& known) { return known.word == wanted; });
  if (found == synonym_table.end()) return {};
  std::string text(seen_from(parent, found->path));
  text.push_back('?');
  return found->note.empty() ? text : text.append(" ").append(found->note);
}

std::string meant_value(const Key& key, std::string_view text) {
  const std::string wanted = policy::lower(text);
  const std::string_view path = key.path == "presets" ? "presets[].name" : key.path;
  for (const ValueSynonym& known : value_synonym_table) {
    if (known.path == path && is_among(known.texts, wanted)) return std::string(known.meant);
  }
  const bool is_zero_time = key.kind == Kind::duration && wanted == "0";
  for (const std::string_view word : split_words(key.words)) {
    const bool is_limitless = word == "none" || word == "unlimited";
    if (is_limitless && key.kind != Kind::word && (is_zero_time || is_among(limitless_texts, wanted)))
      return std::string(word);
  }
  return {};
}

std::string meant_preset(std::string_view name) {
  const Key* const key = find_key("presets[].name");
  if (key == nullptr) return {};
  std::string meant = meant_value(*key, name);
  return meant.empty() ? std::string(nearest(name, split_words(key->words))) : meant;
}

namespace {

std::string form_for(std::string_view schema, const Key& key, const Node& node) {
  if (node.broken || !node.origin.empty() || node.text.size() > longest) return {};
  const bool is_text = node.kind == Node::Kind::scalar;
  if (is_text) {
    if (std::string known = meant_value(key, node.text); !known.empty() && form_of(key.kind) == Form::mapping)
      return known;
  }
  const auto texts = texts_of(node);
  const bool is_texts = node.kind == Node::Kind::list && texts && !texts->empty();
  switch (form_of(key.kind)) {
    case Form::list: return is_text || node.kind == Node::Kind::mapping ? meant_list(schema, key, node) : "";
    case Form::mapping:
      if (is_text) return mapping_for(schema, key, node.text);
      return is_texts ? mapping_for(schema, *texts) : "";
    case Form::scalar:
      if (is_texts && key.kind == Kind::path) return "a route for each path";
      return is_texts ? plural_of(schema, *texts) : "";
    case Form::pairs:
    case Form::rule:
    case Form::predicates: break;
  }
  return {};
}

}  // namespace

std::string meant_form(std::string_view schema, const Key& key, const Node& node) {
  std::string form = form_for(schema, key, node);
  return form.size() <= 2 * longest ? form : std::string();
}

}  // namespace reprise::config
