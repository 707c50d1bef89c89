// Reads a body back from its temporary file for one attempt, in pieces, without blocking the io thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "proxy/forward/replay/replay_store.hpp"
#include "proxy/net/io/pause.hpp"

namespace reprise::forward {

/// Used on one io thread. Several readers may read the same file. May be destroyed at any time.
class ReplayReader {
 public:
  /// Reads the first `size` bytes of the file. Precondition: all of them were passed to the disk thread
  /// before.
  ReplayReader(ReplayStore& store, std::shared_ptr<TemporaryFile> file, std::uint64_t size,
               const asio::any_io_executor& executor);
  ~ReplayReader();
  ReplayReader(const ReplayReader&) = delete;
  ReplayReader& operator=(const ReplayReader&) = delete;

  bool at_end() const { return offset_ == size_; }
  /// Reads the next piece, which is valid until the next call. Returns false if the piece could not be read
  /// (see `lost`), or if `cancel` was called. Precondition: not `at_end`.
  Task<bool> next(std::string_view& piece);
  /// Returns true if the file could not be read, or was not read in time. The failure was logged.
  bool lost() const { return lost_; }
  /// Ends a pending call of `next`.
  void cancel();

 private:
  static constexpr std::size_t piece_bytes = std::size_t{128} * 1024;

  struct Link {
    ReplayReader* reader = nullptr;
  };

  void request_piece();
  void arrived(std::string block, int error);
  void lose(NotHeld why, int error);

  ReplayStore& store_;
  asio::any_io_executor executor_;
  net::Pause pause_;
  std::shared_ptr<TemporaryFile> file_;
  std::shared_ptr<Link> link_;
  const std::uint64_t size_;
  std::uint64_t offset_ = 0;
  std::string block_;
  bool has_piece_ = false;
  bool lost_ = false;
  bool cancelled_ = false;
};

}  // namespace reprise::forward
