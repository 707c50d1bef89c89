// What people write who come from another tool: its words, and ours for them.
#pragma once

#include <string>
#include <string_view>

namespace reprise::config {

/// For a key that is none of those under `parent`: `retry.max_attempts? it counts the first attempt too`.
/// Empty where nothing is known of the word. Style does not matter: maxRetries is max_retries.
std::string synonym(std::string_view parent, std::string_view word);

}  // namespace reprise::config
