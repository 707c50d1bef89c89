// Finds the keys of the table, and says what may stand at them and what was probably meant.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "config/keys/key_table.hpp"

namespace reprise::config {

/// How what stands there is built.
enum class Form : std::uint8_t { mapping, list, pairs, rule, predicates, scalar };
Form form_of(Kind);

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
