// The binary form in which the request history keeps a finished request.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "proxy/telemetry/history/history_entry.hpp"

namespace reprise::telemetry {

/// Encodes one finished request. The record must outlive this object, which holds views into the record.
class EncodedEntry {
 public:
  /// `path`: true if the path of the request may be kept.
  EncodedEntry(const ExchangeRecord& record, bool path);

  /// Returns the encoded size: a multiple of 8, never 0, below 16 KiB.
  std::size_t bytes() const { return bytes_; }
  /// Returns the number of attempts in the entry.
  std::size_t attempts() const { return attempts_; }
  /// Writes the entry, `bytes()` long, to any address, aligned or not. Does not allocate.
  void put(std::byte* at) const;

 private:
  const ExchangeRecord& record_;
  std::array<std::string_view, exchange_text_count> texts_;  ///< clipped, in the order of `pointers_to`
  std::size_t left_out_;
  std::size_t attempts_;
  std::size_t bytes_;
};

/// Decodes an entry that `EncodedEntry::put` wrote. `id` and `route_name` stay empty.
HistoryEntry decoded_entry(const std::byte* from);
/// The following functions each read one field of an encoded entry, so that a search need not decode the
/// entry.
std::size_t entry_bytes_at(const std::byte* from);
std::uint64_t entry_number_at(const std::byte* from);
std::string_view entry_request_id_at(const std::byte* from);

}  // namespace reprise::telemetry
