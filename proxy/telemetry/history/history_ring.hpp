// The newest requests in a bounded piece of memory; the oldest are evicted first.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>

#include "proxy/telemetry/history/encoded_entry.hpp"

namespace reprise::telemetry {

/// Not thread-safe. Allocates memory only at construction. A page of this memory is not touched before the
/// first entry is stored in it.
class HistoryRing {
 public:
  /// Keeps at most `bytes` bytes of entries; with 0 it keeps no request.
  explicit HistoryRing(std::size_t bytes);

  /// Keeps the request, unless its entry is larger than the memory. `path`: true if the path of the request
  /// may be kept.
  void keep(const ExchangeRecord&, bool path);
  /// Finds a request by its number, or finds the newest request with this X-Request-Id. Returns nothing if no
  /// such request is kept.
  std::optional<HistoryEntry> find(std::uint64_t number) const;
  std::optional<HistoryEntry> find(std::string_view request_id) const;
  /// Calls `visit(HistoryEntry)` for the newest requests with a number above `after`: at most `most`, oldest
  /// first.
  template <typename Visit>
  void newest(std::size_t most, std::uint64_t after, Visit visit) const {
    const std::size_t all = count_after(after);
    std::size_t skip = all > most ? all - most : 0;
    for (std::size_t at = first_; at != none; at = next(at)) {
      if (number_at(at) <= after) continue;
      if (skip > 0) {
        --skip;
      } else {
        visit(decode(at));
      }
    }
  }
  std::size_t size() const { return count_; }

 private:
  static constexpr std::size_t none = static_cast<std::size_t>(-1);

  std::size_t count_after(std::uint64_t number) const;
  std::size_t next(std::size_t at) const;
  std::uint64_t number_at(std::size_t at) const;
  HistoryEntry decode(std::size_t at) const { return decoded_entry(bytes_.get() + at); }
  std::byte* make_room(std::size_t bytes);
  void drop_first();

  std::size_t capacity_;
  std::unique_ptr<std::byte[]> bytes_;
  std::size_t first_ = none;  ///< offset of the oldest entry
  std::size_t last_ = none;   ///< offset of the newest entry
  std::size_t end_ = 0;       ///< offset after the newest entry
  std::size_t count_ = 0;
};

}  // namespace reprise::telemetry
