// The window of one stream, and how many bytes of the memory for streams count because of it (row M103).
#pragma once

#include <cstddef>
#include <cstdint>

#include "proxy/http/http2/stream_memory.hpp"

namespace reprise::http {

/// Decides how many bytes the peer may send on a stream before the proxy has passed on any.
class StreamWindow {
 public:
  /// The window with which each stream towards an upstream begins, and which it always keeps, so that each
  /// stream makes progress.
  static constexpr std::uint32_t least = 16 * 1024;
  /// The same for a stream of a client: the window that a client assumes before it has read the SETTINGS (RFC
  /// 9113 6.9.2). A smaller one would become negative there, which some clients cannot handle.
  static constexpr std::uint32_t least_of_client = 65'535;
  static constexpr std::uint32_t most = 256 * 1024;

  explicit StreamWindow(std::uint32_t least_bytes) : least_(least_bytes), size_(least_bytes) {}

  /// What libnghttp2 must be notified of: first the change of the window, then the bytes that were consumed.
  struct Change {
    std::int64_t by = 0;
    std::size_t consumed = 0;
  };

  /// Returns true if the window allows that many bytes of the body that the owner has not taken.
  bool allows(std::size_t unread) const { return unread + taken_ <= size_; }
  /// Counts bytes of the body that the owner takes.
  void take(std::size_t bytes) { taken_ += bytes; }
  /// Counts the bytes that the owner has taken as passed on. Returns their number.
  std::size_t pass_on();
  /// Reopens the window by bytes that were passed on. At the limit of the memory, a window that is larger
  /// than the least one becomes smaller instead. Otherwise the window of a long response becomes larger.
  Change reopen(std::size_t bytes, StreamMemory&);
  /// Enlarges the window as far as the memory allows.
  Change enlarge(StreamMemory&);

  /// Counts the bytes that the stream holds, or those that were added to its window, if these are more: the
  /// upstream may send them at any time. `arrived`: bytes of heads and body that the owner has not taken.
  /// `receives`: more bytes may arrive. Returns by how much the bytes have changed that count in the memory.
  std::int64_t recount(std::size_t arrived, bool receives);
  std::uint64_t counted() const { return counted_; }

 private:
  std::size_t least_;
  std::size_t size_;
  std::size_t withheld_ = 0;     ///< bytes that were passed on, and by which the window was not reopened
  std::size_t taken_ = 0;        ///< bytes that the owner has taken and not passed on yet
  std::uint64_t passed_ = 0;     ///< bytes that the owner has passed on
  std::uint64_t counted_ = 0;    ///< bytes that count in the memory because of the stream
  bool is_slowed_down_ = false;  ///< the limit of the memory has kept the window small
};

}  // namespace reprise::http
