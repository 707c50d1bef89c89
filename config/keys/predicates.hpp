// Reads `hold.body`: predicates that make a response retryable although `retry.on` does not list its status.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "config/yaml/document.hpp"
#include "proxy/policy/match/body_predicate.hpp"

namespace reprise::config {

/// The keys of one predicate, in the order in which they are printed.
inline constexpr std::array<std::string_view, 8> predicate_keys{"status", "event",  "json",    "xml",
                                                                "header", "equals", "matches", "refused"};

/// The forms of a predicate, quoted in messages.
inline constexpr std::string_view predicate_form =
    "{json: PATH, equals: TEXT}, {status: 400, xml: NAME, matches: PATTERN}, {header: NAME, matches: "
    "PATTERN}, "
    "{event: NAME}, or a list of these";

/// Reads one predicate, such as `{status: 400, json: PATH, matches: PATTERN}`, or a list of up to 16.
/// `matches` is one pattern of up to 256 characters, or a list of up to 32. Reports errors under `path` and
/// then leaves `predicates` unchanged.
void read_predicates(const Node&, const std::string& path, Report&,
                     std::vector<policy::BodyPredicate>& predicates);

}  // namespace reprise::config
