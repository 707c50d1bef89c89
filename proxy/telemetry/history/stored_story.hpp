// A story as the bytes that it is kept in until somebody asks for it.
#pragma once

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
  StoredStory(const ExchangeRecord& record, bool path);

  /// A multiple of 8; never 0, and below 16 KiB.
  std::size_t bytes() const { return bytes_; }
  /// How many attempts are kept.
  std::size_t attempts() const { return attempts_; }
  /// Writes `bytes()` bytes, at an address that is a multiple of 8 or not. Allocates nothing.
  void put(std::byte* at) const;

 private:
  const ExchangeRecord& record_;
  ExchangeTexts<std::string_view> texts_;  ///< clipped
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
