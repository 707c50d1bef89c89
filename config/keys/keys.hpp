// Finds keys in the key table, describes their valid values, and suggests the key that an author meant.
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

/// Returns the key at that path. `routes[].x` and `policies.*.x` fall back to `defaults.x`. Null if there is
/// no such key.
const Key* find_key(std::string_view path);
/// Returns the keys directly under a path; the path "" means the top of the file. For routes and policies,
/// includes the keys of `defaults`.
std::vector<const Key*> keys_under(std::string_view path);
/// Returns the path in the key table that describes a shared key, such as `defaults.retry.on` for
/// `routes[].retry.on`. Empty if the key is not shared.
std::string inherited_path(std::string_view path);
/// Returns the last part of a path.
std::string_view last_part(std::string_view path);
/// Splits "a b c" into words.
std::vector<std::string_view> split_words(std::string_view words);

/// Joins the words to a text such as "a, b or c". All words for statuses of gRPC become one example.
std::string either(std::vector<std::string_view> words);
/// Describes the valid values of the key for a message, such as "a duration such as 250ms, or unlimited; 1ms
/// to 8760h".
std::string expectation(const Key&);

/// Returns the text in a form that does not depend on the naming style: the result is equal for maxAttempts,
/// max-attempts and max_attempts.
std::string folded(std::string_view text);
/// Returns the candidate with the smallest edit distance to `text`. Empty if no candidate is close.
std::string_view nearest(std::string_view text, const std::vector<std::string_view>& candidates);
/// Returns the end of a message: ` (did you mean ...?)`. Empty if there is no suggestion.
std::string did_you_mean(std::string_view suggestion);
/// Suggests a replacement for `key`, which is unknown under `parent`: the name of a similar key under
/// `parent`, or the full path of a key that has the name `key` under another parent. Empty if there is no
/// such key.
std::string likely_key(std::string_view parent, std::string_view key);

}  // namespace reprise::config
