// The request history: the last finished requests of all io threads, found by their ids.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/telemetry/history/history_ring.hpp"

namespace reprise::telemetry {

/// Request history of one io thread. Half of the memory is for requests worth reporting (is_notable), half
/// for all others, so that ordinary requests do not evict the ones that matter. Only the io thread writes;
/// any thread reads. A reader holds the lock while it copies one entry or goes through all entries.
class ThreadHistory {
 public:
  /// Gives the requests the numbers `first`, `first + step`, and so on. The history takes at most `bytes`
  /// bytes; with 0 it keeps no request.
  ThreadHistory(std::size_t bytes, std::uint64_t first, std::uint64_t step);

  /// Returns the next request's number. Called on the io thread only.
  std::uint64_t next_number() {
    next_ += step_;
    return next_ - step_;
  }
  /// Keeps a finished request. Called on the io thread only. `path`: true if the path of the request may be
  /// kept.
  void keep(const ExchangeRecord&, bool path);

  std::optional<HistoryEntry> find(std::uint64_t number) const;
  std::optional<HistoryEntry> find(std::string_view request_id) const;
  /// Returns the newest requests worth reporting with a number above `after`: at most `most`, oldest first.
  std::vector<HistoryEntry> newest(std::size_t most, std::uint64_t after) const;

 private:
  mutable std::mutex mutex_;
  HistoryRing notable_;
  HistoryRing ordinary_;
  std::uint64_t next_;
  const std::uint64_t step_;
};

/// Request history of the process. Thread-safe.
class RequestHistory {
 public:
  /// `name`: first part of every id, so that no two processes have an id in common. `bytes`: memory for each
  /// thread.
  RequestHistory(std::string name, std::size_t threads, std::size_t bytes);

  ThreadHistory& book(std::size_t thread) { return *books_[thread]; }
  /// Returns the id of the request with this number: letters, digits and one hyphen, at most 24 characters.
  std::string id_of(std::uint64_t number) const;
  void append_id(std::string& out, std::uint64_t number) const;
  /// Finds a request by its id (`id_of`), or finds the newest request with this X-Request-Id. Leaves
  /// `route_name` of the entry empty.
  std::optional<HistoryEntry> find(std::string_view id) const;
  /// Returns the newest requests of all threads, sorted by end time, oldest first.
  std::vector<HistoryEntry> newest(std::size_t most) const;

 private:
  std::optional<std::uint64_t> number_of(std::string_view id) const;

  const std::string name_;
  std::vector<std::unique_ptr<ThreadHistory>> books_;
};

}  // namespace reprise::telemetry
