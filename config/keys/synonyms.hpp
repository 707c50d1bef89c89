// What people write who come from another tool: its words and forms, and ours for them.
#pragma once

#include <string>
#include <string_view>

#include "config/keys/keys.hpp"
#include "config/yaml/document.hpp"

namespace reprise::config {

/// For a key that is none of those under `parent`: `retry.max_attempts? it counts the first attempt too`.
/// Empty where nothing is known of the word. Style does not matter: maxRetries is max_retries.
std::string synonym(std::string_view parent, std::string_view word);

/// The value of that key to propose for a text that is none of its words; empty if there is no proposal.
std::string meant_value(const Key&, std::string_view text);
/// The name of a shipped preset; empty if none is near.
std::string meant_preset(std::string_view name);
/// The form to propose for a text, a list or a mapping at a key that takes another form:
/// `{max_attempts: 5}` at `retry`, `[503]` at `retry.on`. Empty if there is no proposal. `schema`: the path
/// of the key in the key table, with `routes[]` for a route.
std::string meant_form(std::string_view schema, const Key&, const Node&);

}  // namespace reprise::config
