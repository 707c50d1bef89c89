// Content of bodies: each byte depends only on the request's number and the offset. Both ends can check every
// byte without storing a body.
#pragma once

#include <cstdint>
#include <string_view>

namespace reprise::soak {

/// Returns the content of request `number` from `offset`: at most `most` bytes, and at least one unless
/// `most` is 0.
std::string_view content(std::uint64_t number, std::uint64_t offset, std::uint64_t most);

/// Returns true if `piece` is the content at this offset.
bool is_content(std::uint64_t number, std::uint64_t offset, std::string_view piece);

}  // namespace reprise::soak
