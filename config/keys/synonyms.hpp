// Suggests keys and values for the words and forms of other tools.
#pragma once

#include <string>
#include <string_view>

#include "config/keys/keys.hpp"
#include "config/yaml/document.hpp"

namespace reprise::config {

/// Suggests a key in place of a word that is not a key under `parent`. The text may have an explanation, as
/// in `retry.max_attempts? it counts the first attempt too`. Empty if the word is unknown. Ignores the naming
/// style: maxRetries equals max_retries.
std::string synonym(std::string_view parent, std::string_view word);

/// Suggests a value for a text that is not one of the key's words. Empty if there is no suggestion.
std::string meant_value(const Key&, std::string_view text);
/// Suggests the shipped preset with the most similar name. Empty if no name is similar.
std::string meant_preset(std::string_view name);
/// Suggests the right form if a key has a text, list or mapping in place of another form. For example,
/// suggests `{max_attempts: 5}` for the value `5` of `retry`, and `[503]` for the value `503` of `retry.on`.
/// Empty if there is no suggestion. `schema` is the path in the key table, with `routes[]` for a route.
std::string meant_form(std::string_view schema, const Key&, const Node&);

}  // namespace reprise::config
