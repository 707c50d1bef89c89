// Suggests keys and values for the words and forms of other tools.
#pragma once

#include <string>
#include <string_view>

#include "config/keys/keys.hpp"
#include "config/yaml/document.hpp"

namespace reprise::config {

/// Returns a suggestion for a key that does not exist under `parent`: `retry.max_attempts? it counts the
/// first attempt too`. Empty if the word is unknown. Ignores style: maxRetries equals max_retries.
std::string synonym(std::string_view parent, std::string_view word);

/// Returns the value to propose for a text that is not one of the key's words. Empty if there is no proposal.
std::string meant_value(const Key&, std::string_view text);
/// Returns the name of the closest shipped preset. Empty if none is close.
std::string meant_preset(std::string_view name);
/// Returns the form to propose for a text, a list or a mapping at a key that takes another form:
/// `{max_attempts: 5}` at `retry`, `[503]` at `retry.on`. Empty if there is no proposal. `schema` is the path
/// in the key table, with `routes[]` for a route.
std::string meant_form(std::string_view schema, const Key&, const Node&);

}  // namespace reprise::config
