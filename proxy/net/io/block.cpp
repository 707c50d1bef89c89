#include "proxy/net/io/block.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

#ifdef REPRISE_WATCHES_VIEWS
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(memory, bytes) (static_cast<void>(memory), static_cast<void>(bytes))
#define ASAN_UNPOISON_MEMORY_REGION(memory, bytes) (static_cast<void>(memory), static_cast<void>(bytes))
#endif

namespace reprise::net {
namespace {

// Number of blocks that each thread keeps permanently: 1 MiB of small blocks, 4 MiB of each other size.
// Further blocks are freed when they have not been used for a while.
constexpr std::size_t kept_small = 64;
constexpr std::size_t kept_large = 64;
constexpr std::size_t kept_largest = 16;
// Maximum numbers of larger blocks that each thread lends: at most 16 MiB of each size. When that many are
// lent, further bodies are read with smaller blocks.
constexpr std::size_t most_large = 256;
constexpr std::size_t most_largest = 64;

// Size of the read buffer of a body after one read has filled a large block.
constexpr std::size_t largest_block_bytes = 256 * 1024;

// Maps separate pages, which return to the system as soon as they are freed. On the heap, the blocks of a
// burst would lie between small long-lived objects, so the heap could not shrink. In ASan builds the memory
// comes from the heap, because ASan does not check the bounds of mapped pages.
char* make(std::size_t bytes) {
  if constexpr (views_are_watched) return std::make_unique_for_overwrite<char[]>(bytes).release();
  void* const pages = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) throw std::bad_alloc();
  return static_cast<char*>(pages);
}

void destroy(char* memory, std::size_t bytes) {
  if constexpr (views_are_watched) {
    const std::unique_ptr<char[]> owned(memory);
  } else {
    ::munmap(memory, bytes);
  }
}

/// Blocks of one size that are not lent at the moment.
class FreeList {
 public:
  FreeList(std::size_t bytes, std::size_t kept) : bytes_(bytes), kept_(kept) { blocks_.reserve(kept); }
  ~FreeList() { free_coldest(blocks_.size()); }
  FreeList(const FreeList&) = delete;
  FreeList& operator=(const FreeList&) = delete;

  // Takes the most recently used idle block. In ASan builds, takes the block that has been idle longest, and
  // only when the list is full. A use of a released block is then detected for as long as possible.
  char* take_or_make() {
    if (blocks_.size() < (views_are_watched ? kept_ : 1)) return make_with_a_place();
    const auto place = views_are_watched ? blocks_.begin() : blocks_.end() - 1;
    char* const memory = *place;
    blocks_.erase(place);
    least_ = std::min(least_, blocks_.size());
    ASAN_UNPOISON_MEMORY_REGION(memory, bytes_);
    return memory;
  }

  void give(char* memory) {
    if (views_are_watched && blocks_.size() >= kept_) {
      --made_;
      return destroy(memory, bytes_);
    }
    ASAN_POISON_MEMORY_REGION(memory, bytes_);
    blocks_.push_back(memory);
  }

  std::size_t lent() const { return made_ - blocks_.size(); }

  // Returns true if there are more blocks than the number that is kept permanently. In ASan builds idle
  // blocks are not counted, because all idle blocks are kept on purpose.
  bool has_more_than_kept() const { return made_ - (views_are_watched ? blocks_.size() : 0) > kept_; }
  void free_spare() {
    if (least_ > kept_) free_coldest(least_ - kept_);
    least_ = blocks_.size();
  }

 private:
  // Makes a block and reserves a place for it in the list, so that `give` never has to allocate.
  char* make_with_a_place() {
    if (made_ == blocks_.capacity()) blocks_.reserve(2 * made_);
    char* const memory = make(bytes_);
    ++made_;
    least_ = 0;
    return memory;
  }

  void free_coldest(std::size_t count) {
    const auto end = blocks_.begin() + static_cast<std::ptrdiff_t>(count);
    for (auto place = blocks_.begin(); place != end; ++place) destroy(*place, bytes_);
    blocks_.erase(blocks_.begin(), end);
    made_ -= count;
  }

  const std::size_t bytes_;
  const std::size_t kept_;
  std::size_t made_ = 0;   ///< number of blocks that are lent or idle
  std::size_t least_ = 0;  ///< lowest number of idle blocks since the last `free_spare`
  std::vector<char*> blocks_;
};

FreeList& small_blocks() {
  thread_local FreeList list(block_bytes, kept_small);
  return list;
}

FreeList& large_blocks() {
  thread_local FreeList list(large_block_bytes, kept_large);
  return list;
}

FreeList& largest_blocks() {
  thread_local FreeList list(largest_block_bytes, kept_largest);
  return list;
}

/// Returns the list of that size. Null if blocks of that size are allocated for one use and freed after it.
FreeList* list_of(std::size_t bytes) {
  if (bytes == block_bytes) return &small_blocks();
  if (bytes == large_block_bytes) return &large_blocks();
  return bytes == largest_block_bytes ? &largest_blocks() : nullptr;
}

}  // namespace

bool has_more_blocks_than_kept() {
  return small_blocks().has_more_than_kept() || large_blocks().has_more_than_kept() ||
         largest_blocks().has_more_than_kept();
}

void free_spare_blocks() {
  for (FreeList* const list : {&small_blocks(), &large_blocks(), &largest_blocks()}) list->free_spare();
}

Block::Block(std::size_t bytes)
    : bytes_(bytes <= block_bytes ? block_bytes : (bytes <= large_block_bytes ? large_block_bytes : bytes)) {
  FreeList* const list = list_of(bytes_);
  memory_ = list != nullptr ? list->take_or_make() : make(bytes_);
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
  if (FreeList* const list = list_of(bytes_)) {
    list->give(memory_);
  } else {
    destroy(memory_, bytes_);
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

// In ASan builds, replaces the block, so that the old bytes cannot be read through a view that has ended. Not
// called in other builds.
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
  const bool is_small = block_.size() < large_block_bytes;
  const bool is_too_many =
      is_small ? large_blocks().lent() >= most_large : largest_blocks().lent() >= most_largest;
  if (is_too_many) return;
  const std::size_t bytes = is_small ? large_block_bytes : largest_block_bytes;
  begin_ = end_ = 0;
  block_.release();
  block_ = Block(bytes);
}

}  // namespace reprise::net
