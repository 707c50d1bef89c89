#include "proxy/telemetry/tracing/span_queue.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

namespace reprise::telemetry {
namespace {

struct Header {
  std::uint64_t
      bytes;  ///< size of this header and its request in bytes; 0 if the memory after this point is unused
  std::uint64_t random;
};

}  // namespace

SpanBell::~SpanBell() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

int SpanBell::open() {
  if (descriptor_ >= 0) return descriptor_;
  const int descriptor = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (descriptor < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
  descriptor_ = descriptor;
  return descriptor;
}

void SpanBell::call() const {
  if (const int descriptor = descriptor_; descriptor >= 0) ::eventfd_write(descriptor, 1);
}

// All reads and writes of `rung_` and `pressed_` are sequentially consistent: either the exporter sees the
// request, or the io thread sees that it must wake the exporter.
void SpanBell::reset() {
  pressed_ = false;
  rung_ = false;
}

SpanQueue::SpanQueue(std::size_t bytes, SpanBell& bell)
    : capacity_(bytes / 8 * 8), bell_(bell), bytes_(std::make_unique_for_overwrite<std::byte[]>(capacity_)) {}

bool SpanQueue::push(const EncodedEntry& story, std::uint64_t random) {
  const Header header{sizeof(Header) + story.bytes(), random};
  std::uint64_t written = written_.load(std::memory_order_relaxed);
  const std::uint64_t read = read_.load(std::memory_order_acquire);
  const std::size_t to_the_end = capacity_ - written % capacity_;
  const std::size_t left_empty = header.bytes > to_the_end ? to_the_end : 0;
  const std::uint64_t used = written - read + left_empty + header.bytes;
  if (used > capacity_) return false;
  if (left_empty > 0) {
    constexpr std::uint64_t nothing = 0;
    std::memcpy(bytes_.get() + written % capacity_, &nothing, sizeof nothing);
    written += left_empty;
  }
  std::byte* const at = bytes_.get() + written % capacity_;
  std::memcpy(at, &header, sizeof header);
  story.put(at + sizeof header);
  written_ = written + header.bytes;
  bell_.ring();
  if (used > capacity_ / 2) bell_.press();
  return true;
}

std::optional<QueuedEntry> SpanQueue::pop() {
  std::uint64_t read = read_.load(std::memory_order_relaxed);
  if (read == written_) return std::nullopt;
  const std::byte* at = bytes_.get() + read % capacity_;
  std::uint64_t first = 0;
  std::memcpy(&first, at, sizeof first);
  if (first == 0) {
    read += capacity_ - read % capacity_;
    at = bytes_.get();
  }
  Header header{};
  std::memcpy(&header, at, sizeof header);
  QueuedEntry queued{decoded_entry(at + sizeof header), header.random};
  read_.store(read + header.bytes, std::memory_order_release);
  return queued;
}

SpanQueues::SpanQueues(std::size_t threads, std::size_t bytes_each) {
  for (std::size_t i = 0; i < threads; ++i) queues_.push_back(std::make_unique<SpanQueue>(bytes_each, bell_));
}

}  // namespace reprise::telemetry
