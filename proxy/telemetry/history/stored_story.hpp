// A story as the bytes that it is kept in until somebody asks for it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "proxy/telemetry/history/story.hpp"

namespace reprise::telemetry {

/// The bytes that a finished request would take, and how they
/// are written. Views of the record: it is used at once.
class StoredStory {
 public:
  /// `path`: whether the request's path may be kept.
  StoredStory(const ExchangeRecord& record, std::int64_t ended_wall, bool path);

  /// A multiple of 8; never 0, and below 16 KiB.
  std::size_t bytes() const { return bytes_; }
  /// How many attempts are kept.
  std::size_t attempts() const { return attempts_; }
  /// Writes `bytes()` bytes, at an address that is a multiple of 8 or not. Allocates nothing.
  void put(std::byte* at) const;

 private:
  static constexpr std::size_t text_count = 6;

  const ExchangeRecord& record_;
  std::int64_t ended_wall_;
  std::array<std::string_view, text_count> texts_;
  std::size_t left_out_;
  std::size_t attempts_;
  std::size_t bytes_;
};

/// What was written there, without `id` and `route_name`.
Story told_story(const std::byte* from);
/// Parts of it that are looked for.
std::size_t story_bytes_at(const std::byte* from);
std::uint64_t story_number_at(const std::byte* from);
std::string_view story_request_id_at(const std::byte* from);

}  // namespace reprise::telemetry
