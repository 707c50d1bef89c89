// What an upstream of a story reads from the head of a request, whatever the protocol.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tests/simulation/book.hpp"
#include "tests/simulation/response_plan.hpp"

namespace reprise::simulation {

/// Returns the request's id if `head` begins with a line such as `GET /s/12 HTTP/1.1`, or the same in
/// absolute-form.
std::optional<std::uint64_t> story_number(std::string_view head);
/// Returns the head without the field of this name, which must be spelled as in the head.
std::string without(std::string head, std::string_view name);
/// Returns the range that a resume requests; nothing if the head asks for no range.
std::optional<RangeRequest> range_of(std::string_view head);
/// Returns the version of the last response with content. A range request without If-Range continues that
/// version.
unsigned version_given_last(const Account& account);
/// Draws the idle limit of a story, which is not announced to the proxy. All connections of a story have the
/// same limit.
std::optional<Duration> draw_idle_limit(Seed seed);

}  // namespace reprise::simulation
