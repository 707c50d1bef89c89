#include "proxy/http/http2/stream_window.hpp"

#include <algorithm>
#include <utility>

namespace reprise::http {

std::size_t StreamWindow::pass_on() {
  passed_ += taken_;
  return std::exchange(taken_, 0);
}

StreamWindow::Change StreamWindow::reopen(std::size_t bytes, StreamMemory& memory) {
  const bool is_long = passed_ >= least_ / 2;
  if (!is_long) return {0, bytes};
  if (!memory.is_used_up()) {
    const Change change = enlarge(memory);
    return {change.by, change.consumed + bytes};
  }
  if (!std::exchange(is_slowed_down_, true)) memory.note_limit();
  const std::size_t kept = std::min<std::size_t>(bytes, size_ - least_);
  size_ -= kept;
  withheld_ += kept;
  return {-static_cast<std::int64_t>(kept), bytes - kept};
}

StreamWindow::Change StreamWindow::enlarge(StreamMemory& memory) {
  const std::size_t missing = most - size_;
  const std::size_t more = missing < StreamMemory::least_share ? 0 : memory.take(missing);
  size_ += more;
  counted_ += more;
  // libnghttp2 makes a window smaller by not announcing bytes that were received. When the window grows
  // again, these bytes are still to be consumed.
  const std::size_t late = std::min(withheld_, more);
  withheld_ -= late;
  return {static_cast<std::int64_t>(more), late};
}

std::int64_t StreamWindow::recount(std::size_t arrived, bool receives) {
  const std::size_t added = receives ? size_ - least_ : 0;
  const std::uint64_t bytes = std::max(arrived + taken_, added);
  return static_cast<std::int64_t>(bytes) - static_cast<std::int64_t>(std::exchange(counted_, bytes));
}

}  // namespace reprise::http
