#include "proxy/tools/inject/edits.hpp"

#include <algorithm>

namespace reprise::tools {
namespace {

bool is_all(std::string_view text, char c) { return text.find_first_not_of(c) == std::string_view::npos; }

/// Returns the offset after the quoted text that begins at `at`; npos if the quote is not closed.
std::size_t end_of_quotes(std::string_view text, std::size_t at) {
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

/// Returns true if a quoted text begins at `at`. Used only within `[..]` or `{..}`. An apostrophe within a
/// plain word does not begin a quoted text.
bool begins_quotes(std::string_view text, std::size_t at) {
  return text[at] == '"' ||
         (text[at] == '\'' && std::string_view(" ,:[{\n").find(text[at - 1]) != std::string_view::npos);
}

/// Returns the first and last index of each run of consecutive indexes.
std::vector<std::pair<std::size_t, std::size_t>> runs_of(const std::vector<std::size_t>& places) {
  std::vector<std::pair<std::size_t, std::size_t>> runs;
  for (const std::size_t place : places) {
    if (runs.empty() || runs.back().second + 1 != place) runs.emplace_back(place, place);
    runs.back().second = place;
  }
  return runs;
}

}  // namespace

std::string indented(std::string_view lines, std::size_t columns, std::string_view line_end) {
  std::string result;
  while (!lines.empty()) {
    const std::size_t end = lines.find('\n');
    result.append(end == 0 ? 0 : columns, ' ').append(lines.substr(0, end)).append(line_end);
    lines.remove_prefix(end + 1);
  }
  return result;
}

std::string json_items(const std::vector<Addition>& additions) {
  std::string json;
  for (const Addition& addition : additions) json.append(json.empty() ? "" : ", ").append(addition.json);
  return json;
}

Addition list_entry(const std::string& key, const std::vector<Addition>& items) {
  Addition all{key + ":\n", "\"" + key + "\": [" + json_items(items) + "]"};
  for (const Addition& item : items) all.block += "  - " + indented(item.block, 4).substr(4);
  return all;
}

Addition mapping_entry(const std::string& key, const std::vector<Addition>& entries) {
  Addition all{key + ":\n", "\"" + key + "\": {" + json_items(entries) + "}"};
  for (const Addition& entry : entries) all.block += indented(entry.block, 2);
  return all;
}

std::size_t Edits::line_start(std::size_t at) const {
  const std::size_t end = at == 0 ? std::string_view::npos : text_.rfind('\n', at - 1);
  return end == std::string_view::npos ? 0 : end + 1;
}

void Edits::refuse(const Node& node, std::string message) {
  if (!fault_) fault_ = Fault{node.line, node.column, std::move(message)};
}

void Edits::put(std::size_t at, std::size_t erased, std::string added, const Node& for_whom, Order order) {
  Edit edit{erased, std::move(added)};
  const auto [place, is_new] = edits_.try_emplace({at, order}, edit);
  if (!is_new && place->second != edit)
    refuse(for_whom,
           "parts that need different changes share this value through an anchor: write the value out for "
           "each of them");
}

void Edits::add_entries(const Node& mapping, std::size_t before, const std::vector<Addition>& additions) {
  std::string lines;
  std::string json;
  for (const Addition& addition : additions) {
    lines += addition.block;
    json += addition.json + ", ";
  }
  if (mapping.entries.empty()) return put(mapping.at + 1, 0, json.substr(0, json.size() - 2), mapping);
  const Node& key = *mapping.entries[before].key;
  if (mapping.in_braces) return put(key.at, 0, json, key);
  std::size_t start = line_start(key.at);
  const std::size_t columns = key.at - start;
  if (!is_all(text_.substr(start, columns), ' ')) {
    // The key does not begin its line, for example because a dash precedes it. The additions take the place
    // of the key, and the key moves to a new line after them.
    return put(key.at, 0, indented(lines, columns, line_end_).substr(columns) + std::string(columns, ' '),
               key);
  }
  // Comments directly above the key belong to the key.
  while (start > 0) {
    const std::size_t above = line_start(start - 1);
    const std::string_view line = text_.substr(above, start - above);
    if (line.size() <= columns || !is_all(line.substr(0, columns), ' ') || line[columns] != '#') break;
    start = above;
  }
  put(start, 0, indented(lines, columns, line_end_), key);
}

std::string Edits::item_lines(const std::vector<Addition>& additions, std::size_t columns) const {
  std::string lines;
  for (const Addition& addition : additions) {
    const std::string item = indented(addition.block, columns + 2, line_end_);
    lines.append(columns, ' ').append("- ").append(item.substr(columns + 2));
  }
  return lines;
}

void Edits::add_items(const Node& list, const std::vector<Addition>& additions) {
  if (list.in_braces)
    return put(list.at + 1, 0, json_items(additions) + (list.items.empty() ? "" : ", "), list);
  const std::size_t columns = list.at - line_start(list.at);
  put(list.at, 0, item_lines(additions, columns).substr(columns) + std::string(columns, ' '), list);
}

void Edits::append_items(const Node& list, const std::vector<Addition>& additions) {
  if (list.in_braces && list.items.empty()) return add_items(list, additions);
  if (list.in_braces) {
    const std::size_t end = end_of_last(list);
    if (end == std::string_view::npos) return refuse(list, "this list cannot be edited in its current form");
    return put(end, 0, ", " + json_items(additions), list, Order::behind);
  }
  const std::size_t start = line_start(list.at);
  const std::size_t end = end_of_block(start, list.at - start, true);
  std::string lines = item_lines(additions, list.at - start);
  if (end == text_.size() && !text_.ends_with('\n'))
    lines = std::string(line_end_) + lines.substr(0, lines.size() - line_end_.size());
  put(end, 0, lines, list, Order::behind);
}

std::size_t Edits::colon_after(const Node& key) const {
  const std::size_t behind = std::min(end_of_scalar(key), text_.size());
  const std::size_t colon = text_.find_first_not_of(" \t", behind);
  return colon == std::string_view::npos || text_[colon] != ':' ? std::string_view::npos : colon;
}

std::string Edits::written_null(const Entry& entry) const {
  const std::size_t colon = colon_after(*entry.key);
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
  const std::size_t colon = colon_after(key);
  if (colon == std::string_view::npos)
    return refuse(key, "the value of " + key.text +
                           " is null in a form that cannot be edited: write [] or remove the key");
  put(colon + 1, written_null(entry).size(), " " + json, key);
}

std::size_t Edits::end_of_scalar(const Node& scalar) const {
  if (scalar.at >= text_.size()) return std::string_view::npos;
  if (text_[scalar.at] == '"' || text_[scalar.at] == '\'') return end_of_quotes(text_, scalar.at);
  // The value of a plain scalar equals its spelling, unless the scalar spans several lines.
  return text_.substr(scalar.at).starts_with(scalar.text) ? scalar.at + scalar.text.size()
                                                          : std::string_view::npos;
}

std::string Edits::replace(const Node& scalar, const std::string& json) {
  const std::size_t end = end_of_scalar(scalar);
  if (end == std::string_view::npos ||
      text_.substr(scalar.at, end - scalar.at).find('\n') != std::string_view::npos) {
    refuse(scalar, "this value must change, but it spans several lines: write it on one line");
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
    if (begins_quotes(text_, at)) {
      at = end_of_quotes(text_, at);
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

// Returns the offset of the first line after a block. The block begins at `start`, the first byte of a line,
// and is indented by `columns`. If `is_list` is true, the block includes the further items of the list. The
// block does not include blank lines at its end, nor comments at its end that are indented by at most
// `columns`.
std::size_t Edits::end_of_block(std::size_t start, std::size_t columns, bool is_list) const {
  std::size_t end = text_.size();
  bool first = true;
  for (std::size_t at = start; at < text_.size(); first = false) {
    const std::size_t line_end = text_.find('\n', at);
    const std::size_t next = line_end == std::string_view::npos ? text_.size() : line_end + 1;
    const std::size_t word = std::min(text_.find_first_not_of(" \r\n", at), next);
    const bool is_blank = word >= next;
    const bool is_deeper = !is_blank && word - at > columns;
    const bool is_item = is_list && !is_blank && word - at == columns && text_[word] == '-' &&
                         (word + 1 == text_.size() || text_.find_first_of(" \t\r\n", word) == word + 1);
    const bool is_comment = !is_blank && text_[word] == '#';
    if (!first && !is_blank && !is_comment && !is_deeper && !is_item) break;
    if (first || is_deeper || is_item) end = next;
    at = next;
  }
  return end;
}

// Returns the offset after the last value of a list that is written as `[..]`, before any comma, blanks or
// comments. Returns npos if the list is not closed.
std::size_t Edits::end_of_last(const Node& list) const {
  const std::size_t close = end_of_value(list);
  if (close == std::string_view::npos) return close;
  std::size_t end = list.at + 1;
  for (std::size_t at = list.at + 1; at + 1 < close; ++at) {
    const char c = text_[at];
    if (c == '#' && std::string_view(" \t\n").find(text_[at - 1]) != std::string_view::npos) {
      at = std::min(text_.find('\n', at), close);
    } else if (begins_quotes(text_, at)) {
      const std::size_t behind = end_of_quotes(text_, at);
      if (behind >= close) return std::string_view::npos;
      end = behind;
      at = behind - 1;
    } else if (std::string_view(" \t\r\n,").find(c) == std::string_view::npos) {
      end = at + 1;
    }
  }
  return end;
}

// Returns the offset of an item's dash. The item may begin on a later line than its dash.
std::size_t Edits::dash_of(const Node& list, const Node& item) const {
  const std::size_t columns = list.at - line_start(list.at);
  for (std::size_t start = line_start(item.at);; start = line_start(start - 1)) {
    const bool has_dash = start + columns < item.at && text_[start + columns] == '-' &&
                          is_all(text_.substr(start, columns), ' ');
    if (has_dash || start == 0 || start <= list.at) return start + columns;
  }
}

// Removes whole lines. If they are the last lines of a text that does not end with a newline, also removes
// the newline before them.
void Edits::remove_lines(std::size_t start, std::size_t end, const Node& for_whom) {
  if (end == text_.size() && start > 0 && !text_.ends_with('\n')) {
    --start;
    if (start > 0 && text_[start - 1] == '\r') --start;
  }
  put(start, end - start, "", for_whom);
}

void Edits::remove_items(const Node& list, const std::vector<std::size_t>& places) {
  for (const auto& [from, to] : runs_of(places)) {
    const Node& first = *list.items[from];
    const Node& last = *list.items[to];
    if (!list.in_braces) {
      const std::size_t dash = dash_of(list, last);
      const std::size_t columns = dash - line_start(dash);
      remove_lines(line_start(dash_of(list, first)), end_of_block(line_start(dash), columns), first);
      continue;
    }
    const std::size_t end = end_of_value(last);
    if (end == std::string_view::npos)
      return refuse(last, "this cannot be removed in its current form: remove it by hand");
    const std::size_t comma = text_.find_first_not_of(" \t\r\n", end);
    if (to + 1 < list.items.size() && comma != std::string_view::npos && text_[comma] == ',') {
      const std::size_t behind = comma + (text_.substr(comma + 1, 1) == " " ? 2 : 1);
      put(first.at, behind - first.at, "", first);
    } else {
      // The removed items end the list, so the comma before them is removed too. If the whole list is
      // removed, there is no such comma.
      const std::size_t begin = from == 0 ? first.at : std::min(text_.rfind(',', first.at), first.at);
      put(begin, end - begin, "", first);
    }
  }
}

void Edits::remove_entry(const Node& mapping, std::string_view key) {
  for (std::size_t i = 0; i < mapping.entries.size(); ++i)
    if (mapping.entries[i].key->text == key) return remove_entries(mapping, {i});
}

void Edits::remove_entries(const Node& mapping, const std::vector<std::size_t>& places) {
  for (const auto& [from, to] : runs_of(places)) {
    const Node& key = *mapping.entries[from].key;
    const Node& last = *mapping.entries[to].key;
    const bool is_last = to + 1 == mapping.entries.size();
    if (mapping.in_braces) {
      const std::size_t end =
          is_last ? end_of_value(*mapping.entries[to].value) : mapping.entries[to + 1].key->at;
      if (end == std::string_view::npos)
        return refuse(key, "this cannot be removed in its current form: remove it by hand");
      const std::size_t begin = from == 0 || !is_last ? key.at : text_.rfind(',', key.at);
      put(begin, end - begin, "", key);
      continue;
    }
    const std::size_t start = line_start(key.at);
    const std::size_t columns = key.at - start;
    const std::size_t end = end_of_block(line_start(last.at), last.at - line_start(last.at));
    if (is_all(text_.substr(start, columns), ' ')) {
      remove_lines(start, end, key);
      continue;
    }
    // The key is on the line of a dash (`- key: value`), so the next key must take its place. If there is no
    // next key, the key cannot be removed.
    if (is_last) return refuse(key, "this cannot be removed in its current form: remove it by hand");
    const std::size_t next = std::min(text_.find_first_not_of(' ', end), text_.size());
    put(key.at, next - key.at, "", key);
  }
}

void Edits::put_value(const Entry& entry, const std::string& written) {
  const std::size_t colon = colon_after(*entry.key);
  const std::size_t end = end_of_value(*entry.value);
  if (colon == std::string_view::npos || end == std::string_view::npos)
    return refuse(*entry.key, "this cannot be removed in its current form: remove it by hand");
  put(colon + 1, end - colon - 1, written, *entry.key);
}

std::string Edits::applied() const {
  std::string result;
  std::size_t done = 0;
  for (const auto& [place, edit] : edits_) {
    const std::size_t at = place.first;
    // Skips an edit that begins inside a range that another edit has replaced. If the skipped edit was
    // needed, the later comparison of the result with the original fails.
    if (at < done) continue;
    result.append(text_.substr(done, at - done)).append(edit.added);
    done = at + edit.erased;
  }
  return result.append(text_.substr(done));
}

}  // namespace reprise::tools
