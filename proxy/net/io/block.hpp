// Lent memory: 16 KiB blocks from a free list of the thread,
// and the buffer that messages are read into and parsed in.
#pragma once

#include <boost/asio/buffer.hpp>
#include <cstddef>
#include <string_view>
#include <utility>

namespace reprise::net {

#if defined(__SANITIZE_ADDRESS__)
#define REPRISE_WATCHES_VIEWS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define REPRISE_WATCHES_VIEWS 1
#endif
#endif

/// True in builds with AddressSanitizer: bytes whose views have ended are poisoned there, and
/// their block is lent again as late as possible, so that a view that outlives them is found by
/// any test that reads through it (row L10).
#ifdef REPRISE_WATCHES_VIEWS
inline constexpr bool views_are_watched = true;
#else
inline constexpr bool views_are_watched = false;
#endif

inline constexpr std::size_t block_bytes = 16 * 1024;
/// What a long body is read with.
inline constexpr std::size_t large_block_bytes = 64 * 1024;

/// Owns memory of one of three sizes (given back to the thread's free list) or of a size of its own.
/// Movable; the bytes stay where they are.
class Block {
 public:
  Block() = default;
  /// A block of at least that many bytes.
  explicit Block(std::size_t bytes);
  Block(Block&& other) noexcept
      : memory_(std::exchange(other.memory_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  Block& operator=(Block&& other) noexcept;
  ~Block() { release(); }

  char* data() const { return memory_; }
  std::size_t size() const { return bytes_; }
  explicit operator bool() const { return memory_ != nullptr; }
  void release();

 private:
  char* memory_ = nullptr;
  std::size_t bytes_ = 0;
};

/// Whether this thread has more blocks, lent or at rest, than it keeps for good.
bool has_more_blocks_than_kept();
/// Storage that holds more than this is given back with what it held, not kept for the next request: 256
/// requests are kept, and as many heads of 64 KiB would be 50 MB.
inline constexpr std::size_t kept_storage_bytes = 4 * 1024;
/// Empties a string or a vector, whose storage is kept only if it is small.
template <typename Storage>
void empty_out(Storage& storage) {
  if (storage.capacity() * sizeof(typename Storage::value_type) > kept_storage_bytes) {
    Storage().swap(storage);
  } else {
    storage.clear();
  }
}

/// Gives those of them back to the system that have rested, as many as at the least moment, ever since the
/// last call on this thread.
void free_spare_blocks();

/// Bytes between a begin and an end inside a block. Empty and without memory until something is to be read.
class Buffer {
 public:
  bool empty() const { return begin_ == end_; }
  std::size_t size() const { return end_ - begin_; }
  std::string_view view() const { return {block_.data() + begin_, size()}; }

  /// Room to read into, after the bytes at hand; lends a block if there is none. Bytes at hand never move
  /// while there is room; where none are, views into what was consumed end.
  boost::asio::mutable_buffer room();
  std::size_t room_left() const { return block_ ? block_.size() - end_ : block_bytes; }
  void commit(std::size_t bytes) { end_ += bytes; }
  void consume(std::size_t bytes);
  /// Doubles the block, moving the bytes: views into it end.
  void grow();
  /// Moves the bytes to the front of the block (or of a fresh one): views into it end.
  void compact();
  /// Gives the block back if nothing is in it.
  void give_back();
  /// Forgets the bytes, keeps the block: views into it end.
  void clear() { start_over(); }
  /// Swaps an empty buffer's block for a large one, and that for one of 256 KiB, for long bodies, while the
  /// thread has not lent too many of these.
  void enlarge_if_empty();

 private:
  void start_over() {
    if constexpr (views_are_watched) end_views();
    begin_ = end_ = 0;
  }
  void end_views();

  Block block_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

}  // namespace reprise::net
