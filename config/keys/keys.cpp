#include "config/keys/keys.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "config/keys/predicates.hpp"
#include "proxy/policy/decision/route_policy.hpp"

namespace reprise::config {
namespace {

constexpr std::string_view shared = "defaults";
constexpr std::array<std::string_view, 3> inheritors{"routes[]", "policies.*", "presets[]"};

std::string_view parent_of(std::string_view path) {
  const std::size_t dot = path.rfind('.');
  return dot == std::string_view::npos ? std::string_view() : path.substr(0, dot);
}

// Indexes the keys by path, because the key of every value in a file is looked up.
std::unordered_map<std::string_view, const Key*> by_path() {
  std::unordered_map<std::string_view, const Key*> keys;
  for (const Key& key : all_keys()) keys.emplace(key.path, &key);
  return keys;
}

const Key* exact(std::string_view path) {
  static const std::unordered_map<std::string_view, const Key*> keys = by_path();
  const auto found = keys.find(path);
  return found == keys.end() ? nullptr : found->second;
}

// Returns the optimal string alignment distance of two texts: the number of insertions, deletions,
// replacements and swaps of adjacent characters.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> above(b.size() + 1);
  std::iota(above.begin(), above.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::vector<std::size_t> row(b.size() + 1, i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = a[i - 1] == b[j - 1] ? 0 : 1;
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before = std::exchange(above, std::move(row));
  }
  return above.back();
}

std::string_view article(Kind kind) {
  switch (kind) {
    case Kind::mapping: return "a mapping";
    case Kind::list: return "a list";
    case Kind::word: return "a word";
    case Kind::boolean: return "true or false";
    case Kind::whole: return "a whole number";
    case Kind::number: return "a number";
    case Kind::size: return "a size such as 64KiB";
    case Kind::duration: return "a duration such as 250ms or 1m30s";
    case Kind::ratio: return "a ratio such as 20% or 0.2";
    case Kind::rate: return "a rate such as 10/s";
    case Kind::endpoint: return "an address and port such as 127.0.0.1:3128";
    case Kind::upstream: return "an upstream such as http://orders.internal:8080/base";
    case Kind::collector: return "a collector such as http://127.0.0.1:4318";
    case Kind::parent: return "a proxy such as http://proxy.internal:3128";
    case Kind::network: return "a network such as 10.0.0.0/8";
    case Kind::ports: return "a port, or a range such as 1024-65535";
    case Kind::status: return "a status such as 503, 500-599 or 5xx";
    case Kind::name:
    case Kind::route: return "a name";
    case Kind::host: return "a host name such as api.example.com or *.example.com";
    case Kind::destination: return "a host such as *.internal, or a network such as 10.0.0.0/8";
    case Kind::path: return "a path such as /v1/orders/**";
    case Kind::method: return "a method such as POST";
    case Kind::grpc_method: return "a gRPC method such as shop.Catalog/Get*";
    case Kind::version_field: return "a response field such as x-goog-generation";
    case Kind::pairs: return "a list of name or name=value, or a mapping";
    case Kind::predicates: return predicate_form;
    case Kind::rule: return "{any: [...]} or {all: [...]} of header, query, json, method";
    case Kind::folder: return "an absolute path such as /var/tmp";
    case Kind::file: return "an absolute path such as /etc/ssl/upstream.pem";
    case Kind::text: break;
  }
  return "text";
}

}  // namespace

Form form_of(Kind kind) {
  switch (kind) {
    case Kind::mapping: return Form::mapping;
    case Kind::list: return Form::list;
    case Kind::pairs: return Form::pairs;
    case Kind::rule: return Form::rule;
    case Kind::predicates: return Form::predicates;
    case Kind::word:
    case Kind::boolean:
    case Kind::whole:
    case Kind::number:
    case Kind::size:
    case Kind::duration:
    case Kind::ratio:
    case Kind::rate:
    case Kind::endpoint:
    case Kind::upstream:
    case Kind::collector:
    case Kind::parent:
    case Kind::network:
    case Kind::ports:
    case Kind::status:
    case Kind::name:
    case Kind::route:
    case Kind::host:
    case Kind::destination:
    case Kind::path:
    case Kind::method:
    case Kind::grpc_method:
    case Kind::version_field:
    case Kind::folder:
    case Kind::file:
    case Kind::text: break;
  }
  return Form::scalar;
}

std::string inherited_path(std::string_view path) {
  for (const std::string_view inheritor : inheritors) {
    if (!path.starts_with(inheritor)) continue;
    const std::string_view rest = path.substr(inheritor.size());
    if (rest.empty() || rest.front() == '.') return std::string(shared).append(rest);
  }
  return {};
}

const Key* find_key(std::string_view path) {
  if (const Key* key = exact(path)) return key;
  const std::string inherited = inherited_path(path);
  return inherited.empty() ? nullptr : exact(inherited);
}

std::vector<const Key*> keys_under(std::string_view path) {
  std::vector<const Key*> found;
  const std::string inherited = inherited_path(path);
  for (const std::string_view parent : {path, std::string_view(inherited)}) {
    for (const Key& key : all_keys()) {
      if (parent_of(key.path) == parent && (!path.empty() || key.path.find('.') == std::string_view::npos))
        found.push_back(&key);
    }
    if (inherited.empty()) break;
  }
  return found;
}

std::string_view last_part(std::string_view path) { return path.substr(path.rfind('.') + 1); }

std::vector<std::string_view> split_words(std::string_view words) {
  std::vector<std::string_view> parts;
  while (!words.empty()) {
    const std::size_t blank = words.find(' ');
    parts.push_back(words.substr(0, blank));
    words = blank == std::string_view::npos ? std::string_view() : words.substr(blank + 1);
  }
  return parts;
}

std::string either(std::vector<std::string_view> words) {
  // The statuses of gRPC are too many to be listed in a message.
  const auto is_call_word = [](std::string_view word) { return word.starts_with(policy::call_word_prefix); };
  if (std::erase_if(words, is_call_word) > 0) words.emplace_back("a gRPC status such as grpc-unavailable");
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text.append(i + 1 == words.size() ? " or " : ", ");
    text.append(words[i]);
  }
  return text;
}

std::string expectation(const Key& key) {
  const auto words = split_words(key.words);
  if (key.kind == Kind::word) return either(words);
  if (!key.lowest.empty() && key.lowest == key.highest) return std::string(key.lowest);
  std::string text(article(key.kind));
  if (key.kind == Kind::list && key.item != Kind::mapping) {
    text = "a list of items, each ";
    text.append(article(key.item));
  }
  if (key.kind == Kind::rule) return either(words) + ", or " + text;
  if (!key.lowest.empty()) text.append(", from ").append(key.lowest).append(" to ").append(key.highest);
  if (!words.empty()) text.append(", or ").append(either(words));
  if (!key.instead.empty()) text.append("; or ").append(key.instead);
  return text;
}

std::string did_you_mean(std::string_view text) {
  return text.empty() ? std::string() : " (did you mean " + std::string(text) + "?)";
}

std::string folded(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '_' || c == '-' || c == ' ' || c == '.') continue;
    result.push_back(c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c);
  }
  return result;
}

std::string_view nearest(std::string_view text, const std::vector<std::string_view>& candidates) {
  constexpr std::size_t longest = 40;
  if (text.empty() || text.size() > longest) return {};
  std::string_view best;
  std::size_t best_distance = std::max<std::size_t>(1, text.size() / 3) + 1;
  for (const std::string_view candidate : candidates) {
    const std::size_t far = folded(text) == folded(candidate) ? 0 : distance(text, candidate);
    if (far >= best_distance || far >= candidate.size()) continue;
    best = candidate;
    best_distance = far;
  }
  return best;
}

std::string likely_key(std::string_view parent, std::string_view key) {
  const std::string_view home = inherited_path(parent).empty() ? parent : shared;
  const std::string below = home.empty() ? std::string() : std::string(home) + ".";
  std::string elsewhere;
  for (const Key& other : all_keys()) {
    const bool flat = !below.empty() && other.path.starts_with(below) &&
                      folded(other.path.substr(below.size())) == folded(key);
    if (flat && key.find('.') == std::string_view::npos) return std::string(other.path.substr(below.size()));
    if (last_part(other.path) != key) continue;
    if (other.path.starts_with(below) && !below.empty()) return std::string(other.path.substr(below.size()));
    // If both listeners and routes have a key of this name, the author probably meant the key of routes.
    const bool is_shared = std::string_view(other.path).starts_with("defaults.");
    if (elsewhere.empty() || (is_shared && !elsewhere.starts_with("defaults.")))
      elsewhere = std::string(other.path);
  }
  std::vector<std::string_view> siblings;
  for (const Key* sibling : keys_under(parent)) siblings.push_back(last_part(sibling->path));
  const std::string_view near = nearest(key, siblings);
  return near.empty() ? elsewhere : std::string(near);
}

}  // namespace reprise::config
