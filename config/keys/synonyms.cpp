#include "config/keys/synonyms.hpp"

#include <algorithm>

#include "config/keys/keys.hpp"
#include "config/keys/synonym_table.hpp"

namespace reprise::config {
namespace {

// As it is written at `parent`: without what it has in common with it.
std::string_view seen_from(std::string_view parent, std::string_view path) {
  const std::string inherited = inherited_path(parent);
  const std::string below = (inherited.empty() ? std::string(parent) : inherited) + ".";
  return path.starts_with(below) ? path.substr(below.size()) : path;
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

}  // namespace reprise::config
