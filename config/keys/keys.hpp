// Finds the keys of the table, and says what may stand at them and what was probably meant.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "config/keys/key_table.hpp"

namespace reprise::config {

/// The structure of a value.
enum class Form : std::uint8_t { mapping, list, pairs, rule, predicates, scalar };
Form form_of(Kind);

/// The key at that path; `routes[].x` and `policies.*.x` fall back to `defaults.x`. Null: no such key.
const Key* find_key(std::string_view path);
/// Returns the keys directly under that path; "" is the file. For routes and policies includes those of
/// `defaults`.
std::vector<const Key*> keys_under(std::string_view path);
/// Returns the path that describes a shared key, `defaults.retry.on` for `routes[].retry.on`. Empty if
/// nothing is inherited there.
std::string inherited_path(std::string_view path);
/// Returns the last part of a path.
std::string_view last_part(std::string_view path);
/// Splits "a b c" into words.
std::vector<std::string_view> split_words(std::string_view words);

/// Returns "a, b or c".
std::string either(const std::vector<std::string_view>& words);
/// Returns the valid values for a message: "a duration such as 250ms, or unlimited; 1ms to 8760h".
std::string expectation(const Key&);

/// Returns a spelling that is equal for all styles: maxAttempts, max-attempts and max_attempts are the same.
std::string folded(std::string_view text);
/// Returns the candidate that the author probably meant, by edit distance. Empty if none is close.
std::string_view nearest(std::string_view text, const std::vector<std::string_view>& candidates);
/// Returns ` (did you mean ...?)`, the end of a message. Empty if there is no suggestion.
std::string did_you_mean(std::string_view suggestion);
/// Returns the key that the author probably meant by a key that is not under `parent`: a sibling, or the path
/// of a key elsewhere.
std::string likely_key(std::string_view parent, std::string_view key);

}  // namespace reprise::config
