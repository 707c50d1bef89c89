// Reusable memory: 16 KiB blocks from a free list of the thread, and the buffer that messages are read into
// and parsed in.
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

/// True in builds with AddressSanitizer. In these builds, bytes whose views have ended are poisoned, and
/// their block is reused as late as possible. A test that reads through a view after its end then fails (row
/// L10).
#ifdef REPRISE_WATCHES_VIEWS
inline constexpr bool views_are_watched = true;
#else
inline constexpr bool views_are_watched = false;
#endif

inline constexpr std::size_t block_bytes = 16 * 1024;
/// Block size for reading long bodies.
inline constexpr std::size_t large_block_bytes = 64 * 1024;

/// Owns memory. Blocks of three sizes return to the thread's free list; a block of any other size is freed.
/// Movable; a move does not change the address of the bytes.
class Block {
 public:
  Block() = default;
  /// Takes or allocates a block of at least `bytes` bytes.
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

/// Returns true if this thread has more blocks, lent or idle, than it keeps permanently.
bool has_more_blocks_than_kept();
/// Storage up to this size is kept from one request to the next; larger storage is freed. A thread keeps up
/// to 256 request objects. Without this limit they would hold 50 MB if each request had a head of 64 KiB.
inline constexpr std::size_t kept_storage_bytes = 4 * 1024;
/// Empties a string or a vector. Keeps its storage only if it is small.
template <typename Storage>
void empty_out(Storage& storage) {
  if (storage.capacity() * sizeof(typename Storage::value_type) > kept_storage_bytes) {
    Storage().swap(storage);
  } else {
    storage.clear();
  }
}

/// Frees the blocks of this thread that were idle during the whole time since the last call, except the
/// blocks that the thread keeps permanently.
void free_spare_blocks();

/// The unconsumed bytes inside one block. Owns no memory until the first read.
class Buffer {
 public:
  bool empty() const { return begin_ == end_; }
  std::size_t size() const { return end_ - begin_; }
  /// Returns true if the buffer owns no block.
  bool is_untouched() const { return !block_; }
  std::string_view view() const { return {block_.data() + begin_, size()}; }

  /// Returns the room for the next read, behind the current bytes. Takes a block if there is none. Never
  /// moves unconsumed bytes. If all bytes are consumed, views into them become invalid.
  boost::asio::mutable_buffer room();
  std::size_t room_left() const { return block_ ? block_.size() - end_ : block_bytes; }
  void commit(std::size_t bytes) { end_ += bytes; }
  void consume(std::size_t bytes);
  /// Doubles the block and moves the bytes. Invalidates all views.
  void grow();
  /// Moves the bytes to the front of the block, or of a fresh block. Invalidates all views.
  void compact();
  /// Releases the block if the buffer is empty.
  void give_back();
  /// Discards the bytes and keeps the block. Invalidates all views.
  void clear() { start_over(); }
  /// Replaces the block of an empty buffer by a block of the next larger size (64 KiB, then 256 KiB), for
  /// long bodies. Does nothing if the buffer holds bytes or if the thread has lent too many blocks of that
  /// size.
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
