// The one table of every configuration key: it drives the
// parser, did-you-mean, the reference page and the schema.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace reprise::config {

/// What may stand at a key. The first two have keys or items of their own.
enum class Kind : std::uint8_t {
  mapping,
  list,
  word,  // one of `words`
  boolean,
  whole,   // decimal digits
  number,  // digits and a point
  size,
  duration,
  ratio,
  rate,
  endpoint,
  upstream,   // http[s]://host[:port][/prefix]
  collector,  // http://host:port[/path]
  parent,     // http://[user:password@]proxy:port: a secret
  network,
  ports,
  status,       // 503, 500-599, 5xx or one of `words`
  name,         // of a policy
  route,        // name of a route: those of presets have PRESET/ before it
  host,         // exact or *.suffix
  destination,  // a host, or a network such as 10.0.0.0/8
  path,
  method,
  version_field,  // of a response
  pairs,          // names that must be present, with or without a value
  rule,           // idempotent
  predicates,     // hold.body
  folder,
  file,
  text,
};

/// How what stands there is built.
enum class Form : std::uint8_t { mapping, list, pairs, rule, predicates, scalar };
Form form_of(Kind);

struct Key {
  std::string_view
      path;  ///< `retry.on` of every route is under `defaults.`; list items are `[]`, any name `*`
  Kind kind;
  std::string_view standard;  ///< the default as YAML; empty: absent by default
  std::string_view sentence;
  std::string_view
      words{};  ///< of `word`: all, in the order of the enumerators; else: allowed beside the kind
  std::string_view lowest{};   ///< inclusive, written like a value
  std::string_view highest{};  ///< inclusive
  Kind item{Kind::mapping};    ///< of a list
  std::string_view instead{};  ///< of a list: the word that may stand in its place
};

/// In the order of the reference page.
std::span<const Key> all_keys();
/// The key at that path; `routes[].x` and `policies.*.x` fall back to `defaults.x`. Null: no such key.
const Key* find_key(std::string_view path);
/// The keys directly under that path, those of `defaults` included for routes and policies; "" is the file.
std::vector<const Key*> keys_under(std::string_view path);
/// `routes[].retry.on` is described at `defaults.retry.on`; empty: nothing is inherited there.
std::string inherited_path(std::string_view path);
/// The last part of a path.
std::string_view last_part(std::string_view path);
/// "a b c" in parts.
std::vector<std::string_view> split_words(std::string_view words);

/// "a, b or c".
std::string either(const std::vector<std::string_view>& words);
/// What to write there: "a duration such as 250ms, or unlimited; 1ms to 8760h".
std::string expectation(const Key&);

/// How people write a key of another style: maxAttempts, max-attempts and max_attempts are one.
std::string folded(std::string_view text);
/// The candidate that was probably meant, by edit distance; empty if none is near.
std::string_view nearest(std::string_view text, const std::vector<std::string_view>& candidates);
/// ` (did you mean ...?)`, the end of a message; empty where there is no suggestion.
std::string did_you_mean(std::string_view suggestion);
/// What was probably meant by a key that is not under `parent`: a sibling, or the path of a key elsewhere.
std::string likely_key(std::string_view parent, std::string_view key);

}  // namespace reprise::config
