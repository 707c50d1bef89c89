#include "proxy/inject/edits.hpp"

#include <algorithm>

namespace reprise::inject {
namespace {

bool is_all(std::string_view text, char c) { return text.find_first_not_of(c) == std::string_view::npos; }

/// Where the quoted text that begins there ends; npos: never.
std::size_t behind_quotes(std::string_view text, std::size_t at) {
  const char quote = text[at];
  for (++at; at < text.size(); ++at) {
    if (quote == '"' && text[at] == '\\') {
      ++at;
    } else if (text[at] == quote) {
      if (quote == '"' || text.substr(at + 1, 1) != "'") return at + 1;
      ++at;
    }
  }
  return std::string_view::npos;
}

}  // namespace

std::size_t Edits::line_start(std::size_t at) const {
  const std::size_t end = at == 0 ? std::string_view::npos : text_.rfind('\n', at - 1);
  return end == std::string_view::npos ? 0 : end + 1;
}

std::string Edits::indented(std::string_view lines, std::size_t columns) const {
  std::string result;
  while (!lines.empty()) {
    const std::size_t end = lines.find('\n');
    result.append(columns, ' ').append(lines.substr(0, end)).append(line_end_);
    lines.remove_prefix(end + 1);
  }
  return result;
}

void Edits::refuse(const Node& node, std::string message) {
  if (!fault_) fault_ = Fault{node.line, node.column, std::move(message)};
}

void Edits::put(std::size_t at, std::size_t erased, std::string added, const Node& for_whom) {
  Edit edit{erased, std::move(added)};
  const auto [place, is_new] = edits_.try_emplace(at, edit);
  if (!is_new && place->second != edit)
    refuse(for_whom, "an anchor's value is used here by parts that need different changes: write it out");
}

void Edits::add_entries(const Node& mapping, std::size_t before, const std::vector<Addition>& additions) {
  const Node& key = *mapping.entries[before].key;
  std::string lines;
  std::string json;
  for (const Addition& addition : additions) {
    lines += addition.block;
    json += addition.json + ", ";
  }
  if (mapping.in_braces) return put(key.at, 0, json, key);
  std::size_t start = line_start(key.at);
  const std::size_t columns = key.at - start;
  if (!is_all(text_.substr(start, columns), ' ')) {
    // Behind a dash, say: what is added takes the key's place, and the key begins a line of its own.
    return put(key.at, 0, indented(lines, columns).substr(columns) + std::string(columns, ' '), key);
  }
  // The comments right above the key are the key's.
  while (start > 0) {
    const std::size_t above = line_start(start - 1);
    const std::string_view line = text_.substr(above, start - above);
    if (line.size() <= columns || !is_all(line.substr(0, columns), ' ') || line[columns] != '#') break;
    start = above;
  }
  put(start, 0, indented(lines, columns), key);
}

void Edits::add_items(const Node& list, const std::vector<Addition>& additions) {
  if (list.in_braces) {
    std::string json;
    for (const Addition& addition : additions) json.append(json.empty() ? "" : ", ").append(addition.json);
    return put(list.at + 1, 0, json + (list.items.empty() ? "" : ", "), list);
  }
  const std::size_t columns = list.at - line_start(list.at);
  std::string lines;
  for (const Addition& addition : additions) {
    const std::string item = indented(addition.block, columns + 2);
    lines.append(columns, ' ').append("- ").append(item.substr(columns + 2));
  }
  put(list.at, 0, lines.substr(columns) + std::string(columns, ' '), list);
}

std::size_t Edits::colon_behind(const Node& key) const {
  const std::size_t behind = std::min(end_of_scalar(key), text_.size());
  const std::size_t colon = text_.find_first_not_of(" \t", behind);
  return colon == std::string_view::npos || text_[colon] != ':' ? std::string_view::npos : colon;
}

std::string Edits::written_null(const Entry& entry) const {
  const std::size_t colon = colon_behind(*entry.key);
  if (colon == std::string_view::npos) return {};
  const std::size_t value = std::min(text_.find_first_not_of(" \t", colon + 1), text_.size());
  std::size_t end = colon + 1;
  for (const std::string_view null : {"null", "Null", "NULL", "~"}) {
    if (text_.substr(value).starts_with(null)) end = value + null.size();
  }
  return std::string(text_.substr(colon + 1, end - colon - 1));
}

void Edits::fill(const Entry& entry, const std::string& json) {
  const Node& key = *entry.key;
  const std::size_t colon = colon_behind(key);
  if (colon == std::string_view::npos)
    return refuse(key, "the value of " + key.text +
                           " is null in a way that cannot be edited: write [] or leave it out");
  put(colon + 1, written_null(entry).size(), " " + json, key);
}

std::size_t Edits::end_of_scalar(const Node& scalar) const {
  if (scalar.at >= text_.size()) return std::string_view::npos;
  if (text_[scalar.at] == '"' || text_[scalar.at] == '\'') return behind_quotes(text_, scalar.at);
  // A plain one is written as it is, unless it goes over several lines.
  return text_.substr(scalar.at).starts_with(scalar.text) ? scalar.at + scalar.text.size()
                                                          : std::string_view::npos;
}

std::string Edits::replace(const Node& scalar, const std::string& json) {
  const std::size_t end = end_of_scalar(scalar);
  if (end == std::string_view::npos ||
      text_.substr(scalar.at, end - scalar.at).find('\n') != std::string_view::npos) {
    refuse(scalar, "this value has to change, and stands on several lines: write it on one");
    return {};
  }
  put(scalar.at, end - scalar.at, json, scalar);
  return std::string(text_.substr(scalar.at, end - scalar.at));
}

std::size_t Edits::end_of_value(const Node& value) const {
  if (value.kind == Node::Kind::scalar) return end_of_scalar(value);
  if (!value.in_braces) return std::string_view::npos;
  std::size_t depth = 0;
  for (std::size_t at = value.at; at < text_.size(); ++at) {
    const char c = text_[at];
    if (c == '"' || (c == '\'' && std::string_view(" ,:[{").find(text_[at - 1]) != std::string_view::npos)) {
      at = behind_quotes(text_, at);
      if (at == std::string_view::npos) return at;
      --at;
    } else if (c == '[' || c == '{') {
      ++depth;
    } else if ((c == ']' || c == '}') && --depth == 0) {
      return at + 1;
    }
  }
  return std::string_view::npos;
}

// Where the first line begins that is not part of what begins at `start`, which is a line's beginning, and is
// indented by `columns`. Blank lines and comments at its end are no part of it.
std::size_t Edits::end_of_block(std::size_t start, std::size_t columns) const {
  std::size_t end = text_.size();
  bool first = true;
  for (std::size_t at = start; at < text_.size(); first = false) {
    const std::size_t line_end = text_.find('\n', at);
    const std::size_t next = line_end == std::string_view::npos ? text_.size() : line_end + 1;
    const std::size_t word = std::min(text_.find_first_not_of(" \r\n", at), next);
    const bool says_nothing = word >= next || text_[word] == '#';
    if (!first && !says_nothing && word - at <= columns) break;
    if (!says_nothing) end = next;
    at = next;
  }
  return end;
}

// The dash of an item, which may begin on a later line than its dash.
std::size_t Edits::dash_of(const Node& list, const Node& item) const {
  const std::size_t columns = list.at - line_start(list.at);
  for (std::size_t start = line_start(item.at);; start = line_start(start - 1)) {
    const bool has_dash = start + columns < item.at && text_[start + columns] == '-' &&
                          is_all(text_.substr(start, columns), ' ');
    if (has_dash || start == 0 || start <= list.at) return start + columns;
  }
}

void Edits::remove_items(const Node& list, const std::vector<std::size_t>& places) {
  for (const std::size_t place : places) {
    const Node& item = *list.items[place];
    if (!list.in_braces) {
      const std::size_t dash = dash_of(list, item);
      const std::size_t start = line_start(dash);
      put(start, end_of_block(start, dash - start) - start, "", item);
      continue;
    }
    const std::size_t end = end_of_value(item);
    if (end == std::string_view::npos) return refuse(item, "this cannot be removed as it is written");
    const std::size_t comma = text_.find_first_not_of(" \t\r\n", end);
    if (place + 1 < list.items.size() && comma != std::string_view::npos && text_[comma] == ',') {
      const std::size_t behind = comma + (text_.substr(comma + 1, 1) == " " ? 2 : 1);
      put(item.at, behind - item.at, "", item);
    } else {
      // The last one: with the comma before it, unless nothing is left before it.
      const bool all = places.size() == list.items.size();
      const std::size_t begin = all ? item.at : std::min(text_.rfind(',', item.at), item.at);
      put(begin, end - begin, "", item);
    }
  }
}

void Edits::remove_entry(const Node& mapping, std::size_t place) {
  const Node& key = *mapping.entries[place].key;
  const bool is_last = place + 1 == mapping.entries.size();
  if (mapping.in_braces) {
    if (!is_last) return put(key.at, mapping.entries[place + 1].key->at - key.at, "", key);
    const std::size_t end = end_of_value(*mapping.entries[place].value);
    if (end == std::string_view::npos) return refuse(key, "this cannot be removed as it is written");
    const std::size_t begin = place == 0 ? key.at : text_.rfind(',', key.at);
    return put(begin, end - begin, "", key);
  }
  const std::size_t start = line_start(key.at);
  const std::size_t columns = key.at - start;
  const std::size_t end = end_of_block(start, columns);
  if (is_all(text_.substr(start, columns), ' ')) return put(start, end - start, "", key);
  // Behind a dash: what follows takes the key's place.
  if (is_last) return refuse(key, "this cannot be removed as it is written");
  const std::size_t next = std::min(text_.find_first_not_of(' ', end), text_.size());
  put(key.at, next - key.at, "", key);
}

void Edits::put_value(const Entry& entry, const std::string& written) {
  const std::size_t colon = colon_behind(*entry.key);
  const std::size_t end = end_of_value(*entry.value);
  if (colon == std::string_view::npos || end == std::string_view::npos)
    return refuse(*entry.key, "this cannot be removed as it is written");
  put(colon + 1, end - colon - 1, written, *entry.key);
}

std::string Edits::applied() const {
  std::string result;
  std::size_t done = 0;
  for (const auto& [at, edit] : edits_) {
    if (at < done) continue;  // within what another has replaced: the comparison afterwards finds it
    result.append(text_.substr(done, at - done)).append(edit.added);
    done = at + edit.erased;
  }
  return result.append(text_.substr(done));
}

}  // namespace reprise::inject
