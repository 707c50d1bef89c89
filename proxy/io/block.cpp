#include "proxy/io/block.hpp"

#include <cstring>
#include <memory>
#include <vector>

#ifdef REPRISE_WATCHES_VIEWS
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(memory, bytes) (static_cast<void>(memory), static_cast<void>(bytes))
#define ASAN_UNPOISON_MEMORY_REGION(memory, bytes) (static_cast<void>(memory), static_cast<void>(bytes))
#endif

namespace reprise::net {
namespace {

// At most this much is kept after a burst: 4 MiB of each size per thread.
constexpr std::size_t most_small = 256;
constexpr std::size_t most_large = 64;
constexpr std::size_t most_largest = 16;

// What a body is read with once a read has filled a large block.
constexpr std::size_t largest_block_bytes = 256 * 1024;

struct FreeList {
  explicit FreeList(std::size_t most_blocks) : most(most_blocks) { blocks.reserve(most); }

  // The warmest one; where views are watched, the one that has rested longest, once no more may rest.
  char* take_or_make(std::size_t bytes) {
    if (blocks.size() < (views_are_watched ? most : 1))
      return std::make_unique_for_overwrite<char[]>(bytes).release();
    const auto place = views_are_watched ? blocks.begin() : blocks.end() - 1;
    char* memory = place->release();
    blocks.erase(place);
    ASAN_UNPOISON_MEMORY_REGION(memory, bytes);
    return memory;
  }

  void give(char* memory, std::size_t bytes) {
    std::unique_ptr<char[]> owned(memory);
    if (blocks.size() >= most) return;
    ASAN_POISON_MEMORY_REGION(memory, bytes);
    blocks.push_back(std::move(owned));
  }

  std::size_t most;
  std::vector<std::unique_ptr<char[]>> blocks;
};

FreeList& small_blocks() {
  thread_local FreeList list(most_small);
  return list;
}

FreeList& large_blocks() {
  thread_local FreeList list(most_large);
  return list;
}

FreeList& largest_blocks() {
  thread_local FreeList list(most_largest);
  return list;
}

}  // namespace

Block::Block(std::size_t bytes) {
  if (bytes <= block_bytes) {
    bytes_ = block_bytes;
    memory_ = small_blocks().take_or_make(bytes_);
  } else if (bytes <= large_block_bytes) {
    bytes_ = large_block_bytes;
    memory_ = large_blocks().take_or_make(bytes_);
  } else if (bytes == largest_block_bytes) {
    bytes_ = largest_block_bytes;
    memory_ = largest_blocks().take_or_make(bytes_);
  } else {
    bytes_ = bytes;
    memory_ = std::make_unique_for_overwrite<char[]>(bytes).release();
  }
}

Block& Block::operator=(Block&& other) noexcept {
  if (this != &other) {
    release();
    memory_ = std::exchange(other.memory_, nullptr);
    bytes_ = std::exchange(other.bytes_, 0);
  }
  return *this;
}

void Block::release() {
  if (memory_ == nullptr) return;
  if (bytes_ == block_bytes) {
    small_blocks().give(memory_, bytes_);
  } else if (bytes_ == large_block_bytes) {
    large_blocks().give(memory_, bytes_);
  } else if (bytes_ == largest_block_bytes) {
    largest_blocks().give(memory_, bytes_);
  } else {
    const std::unique_ptr<char[]> owned(memory_);
  }
  memory_ = nullptr;
  bytes_ = 0;
}

boost::asio::mutable_buffer Buffer::room() {
  if (!block_) block_ = Block(block_bytes);
  if (begin_ == end_) start_over();
  return {block_.data() + end_, block_.size() - end_};
}

void Buffer::consume(std::size_t bytes) { begin_ += bytes; }

// Only where views are watched: the bytes stay readable in no block that anybody could still look into.
void Buffer::end_views() {
  if (end_ > 0) block_ = Block(block_.size());
}

void Buffer::grow() {
  Block larger(block_ ? block_.size() * 2 : block_bytes);
  std::memcpy(larger.data(), block_.data() + begin_, size());
  end_ = size();
  begin_ = 0;
  block_ = std::move(larger);
}

void Buffer::compact() {
  if (begin_ == 0) return;
  if constexpr (views_are_watched) {
    Block moved(block_.size());
    std::memcpy(moved.data(), block_.data() + begin_, size());
    block_ = std::move(moved);
  } else {
    std::memmove(block_.data(), block_.data() + begin_, size());
  }
  end_ = size();
  begin_ = 0;
}

void Buffer::give_back() {
  if (!empty()) return;
  begin_ = end_ = 0;
  block_.release();
}

void Buffer::enlarge_if_empty() {
  if (!empty() || block_.size() >= largest_block_bytes) return;
  const std::size_t bytes = block_.size() < large_block_bytes ? large_block_bytes : largest_block_bytes;
  begin_ = end_ = 0;
  block_.release();
  block_ = Block(bytes);
}

}  // namespace reprise::net
