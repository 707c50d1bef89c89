// The table of every configuration key. The parser, the suggestions, the reference page and the schema are
// based on it.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace reprise::config {

/// The kind of value that a key takes. The keys of a mapping and the items of a list have their own kinds.
enum class Kind : std::uint8_t {
  mapping,
  list,
  word,  // one of `words`
  boolean,
  whole,   // decimal digits
  number,  // decimal digits, optionally with a decimal point
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
  name,         // name of a policy
  route,        // name of a route; routes of presets are named PRESET/name
  host,         // an exact host or *.suffix
  destination,  // a host, or a network such as 10.0.0.0/8
  path,
  method,
  grpc_method,    // SERVICE/METHOD, with patterns
  version_field,  // a response field
  pairs,          // headers or query parameters that a request must have, with or without a value
  rule,           // value of the key `idempotent`
  predicates,     // value of the key `hold.body`
  folder,
  file,
  text,
};

struct Key {
  std::string_view
      path;  ///< a key of routes has the prefix `defaults.`; `[]` means any item of a list, `*` any name
  Kind kind;
  std::string_view standard;  ///< the default as YAML; empty if the key is absent by default
  std::string_view sentence;
  std::string_view
      words{};  ///< kind `word`: all words, in the order of the enumerators; other kinds: additional words
  std::string_view lowest{};   ///< lowest valid value, as it is written in a file
  std::string_view highest{};  ///< highest valid value
  Kind item{Kind::mapping};    ///< for a list: the kind of its items
  std::string_view instead{};  ///< for a list: the word that may replace the list
};

/// Returns every key, in the order of the reference page.
std::span<const Key> all_keys();

}  // namespace reprise::config
