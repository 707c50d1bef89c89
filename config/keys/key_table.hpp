// The one table of every configuration key: it drives the parser, did-you-mean, the reference page and the
// schema.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

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

}  // namespace reprise::config
