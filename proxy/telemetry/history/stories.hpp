// The last stories of every io thread, and the ids by which they are asked for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/telemetry/history/story_ring.hpp"

namespace reprise::telemetry {

/// What one io thread keeps: in half of its memory requests that are worth telling of, in the other half all
/// the rest, so that a thousand ordinary ones do not push out the one that matters. Its thread writes, any
/// thread reads: the lock is held for one story, or for a walk over the memory.
class StoryBook {
 public:
  /// Numbers its requests first, first + step, ... ; at most `bytes`, 0 for none.
  StoryBook(std::size_t bytes, std::uint64_t first, std::uint64_t step);

  /// The next request's number. Its own thread only.
  std::uint64_t next_number() {
    next_ += step_;
    return next_ - step_;
  }
  /// Its own thread only. `path`: whether the request's path may be kept.
  void keep(const ExchangeRecord&, bool path);

  std::optional<Story> find(std::uint64_t number) const;
  std::optional<Story> find(std::string_view request_id) const;
  /// The newest that are worth telling of, above that number, at most `most`: oldest first.
  std::vector<Story> newest(std::size_t most, std::uint64_t after) const;

 private:
  mutable std::mutex mutex_;
  StoryRing told_;
  StoryRing ordinary_;
  std::uint64_t next_;
  const std::uint64_t step_;
};

/// Any thread.
class Stories {
 public:
  /// `name`: what ids begin with, so that two processes have none in common. `bytes`: for each thread.
  Stories(std::string name, std::size_t threads, std::size_t bytes);

  StoryBook& book(std::size_t thread) { return *books_[thread]; }
  /// The id of a number: letters, digits and one hyphen, 24 at most.
  std::string id_of(std::uint64_t number) const;
  void append_id(std::string& out, std::uint64_t number) const;
  /// By an id of ours, or by what a client has sent as X-Request-Id (the newest). Without `route_name`.
  std::optional<Story> find(std::string_view id) const;
  /// Of all threads, by their end, oldest first.
  std::vector<Story> newest(std::size_t most) const;

 private:
  std::optional<std::uint64_t> number_of(std::string_view id) const;

  const std::string name_;
  std::vector<std::unique_ptr<StoryBook>> books_;
};

}  // namespace reprise::telemetry
