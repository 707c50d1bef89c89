#include "proxy/telemetry/history/history_ring.hpp"

#include <algorithm>
#include <cstring>

namespace reprise::telemetry {
namespace {

// This value in place of an entry's size marks the end of the used memory. The next entry is at the beginning
// of the memory.
constexpr std::uint16_t wrapped = 0;

// Usual size of an entry: one attempt and texts of usual length.
constexpr std::size_t usual_bytes = 320;

// Prefetches the memory for the next entry. The ring is larger than the CPU's near caches, and each part of
// it is written only once in thousands of requests. Without the prefetch, the next request would wait for the
// memory.
void fetch(const std::byte* from, std::size_t bytes) {
  constexpr std::size_t line = 64;
  for (std::size_t at = 0; at < bytes; at += line) __builtin_prefetch(from + at, 1);
}

}  // namespace

HistoryRing::HistoryRing(std::size_t bytes)
    : capacity_(bytes / 8 * 8),
      bytes_(capacity_ == 0 ? nullptr : std::make_unique_for_overwrite<std::byte[]>(capacity_)) {}

void HistoryRing::keep(const ExchangeRecord& record, bool path) {
  const EncodedEntry story(record, path);
  if (std::byte* const at = make_room(story.bytes()); at != nullptr) story.put(at);
  fetch(bytes_.get() + end_, std::min(usual_bytes, capacity_ - end_));
}

// Returns free memory after the newest entry, or at the beginning of the ring. Evicts the entries that occupy
// this memory.
std::byte* HistoryRing::make_room(std::size_t bytes) {
  if (bytes > capacity_) return nullptr;
  if (end_ + bytes > capacity_) {
    // Entries from `end_` to the end of the memory are older than all entries at the beginning of the memory.
    while (first_ != none && first_ >= end_) drop_first();
    if (end_ < capacity_) std::memcpy(bytes_.get() + end_, &wrapped, sizeof wrapped);
    end_ = 0;
  }
  while (first_ != none && first_ >= end_ && first_ < end_ + bytes) drop_first();
  if (first_ == none) first_ = end_;
  last_ = end_;
  end_ += bytes;
  ++count_;
  return bytes_.get() + last_;
}

void HistoryRing::drop_first() {
  first_ = next(first_);
  --count_;
}

std::size_t HistoryRing::next(std::size_t at) const {
  if (at == last_) return none;
  at += entry_bytes_at(bytes_.get() + at);
  const bool at_the_end = at >= capacity_ || entry_bytes_at(bytes_.get() + at) == wrapped;
  return at_the_end ? 0 : at;
}

std::uint64_t HistoryRing::number_at(std::size_t at) const { return entry_number_at(bytes_.get() + at); }

std::size_t HistoryRing::count_after(std::uint64_t number) const {
  std::size_t count = 0;
  for (std::size_t at = first_; at != none; at = next(at)) count += number_at(at) > number ? 1U : 0U;
  return count;
}

std::optional<HistoryEntry> HistoryRing::find(std::uint64_t number) const {
  for (std::size_t at = first_; at != none; at = next(at)) {
    if (number_at(at) == number) return decode(at);
  }
  return std::nullopt;
}

std::optional<HistoryEntry> HistoryRing::find(std::string_view request_id) const {
  std::size_t found = none;
  for (std::size_t at = first_; at != none; at = next(at)) {
    if (entry_request_id_at(bytes_.get() + at) == request_id) found = at;
  }
  return found == none ? std::nullopt : std::optional(decode(found));
}

}  // namespace reprise::telemetry
