#include "proxy/forward/replay/replay_file.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>

namespace reprise::forward {

ReplayFile::ReplayFile(ReplayStore& store, const asio::any_io_executor& executor, Instant until)
    : store_(store),
      executor_(executor),
      file_(store.make_file()),
      link_(std::make_shared<Link>()),
      allotment_(store.disk()),
      until_(until) {
  link_->file = this;
}

// Passes the file to the disk thread, which closes it. Closing may take a while, because it frees the file's
// blocks.
ReplayFile::~ReplayFile() {
  link_->file = nullptr;
  link_->is_wanted = false;
  store_.on_disk_thread([file = std::move(file_), allotment = std::move(allotment_)]() mutable {
    file.reset();
    allotment.release();
  });
}

bool ReplayFile::append(std::string_view bytes, Allotment&& memory) {
  if (failed_) return false;
  const std::size_t blocks = (filling_.size() + bytes.size() + block_bytes - 1) / block_bytes;
  const std::uint64_t wanted = blocks * block_bytes;
  const std::uint64_t there = filling_memory_.bytes() + memory.bytes();
  if (wanted > there && !memory.grow(wanted - there)) {
    store_.log_not_held(NotHeld::memory_spent);
    return false;
  }
  if (!allotment_.grow(bytes.size())) {
    store_.log_not_held(NotHeld::disk_spent);
    return false;
  }
  while (!bytes.empty()) {
    if (filling_memory_.bytes() == 0) filling_memory_ = memory.split(block_bytes);
    if (filling_.capacity() < block_bytes) filling_ = store_.spare_buffers().take(block_bytes);
    const std::string_view part = bytes.substr(0, block_bytes - filling_.size());
    filling_.append(part);
    bytes.remove_prefix(part.size());
    if (filling_.size() == block_bytes) flush();
  }
  return true;
}

bool ReplayFile::append_held(std::string&& bytes, Allotment&& memory) {
  if (!allotment_.grow(bytes.size())) {
    store_.log_not_held(NotHeld::disk_spent);
    return false;
  }
  const auto held = std::make_shared<Held>(Held{std::move(bytes), std::move(memory)});
  const std::size_t size = held->bytes.size();
  for (std::size_t offset = 0; offset < size; offset += block_bytes) {
    write({{}, {}, held, offset, std::min(block_bytes, size - offset)});
  }
  return true;
}

void ReplayFile::flush() {
  if (filling_.empty()) return;
  const std::size_t count = filling_.size();
  write({std::move(filling_), std::move(filling_memory_), nullptr, 0, count});
  filling_ = std::string();
  filling_memory_ = Allotment();
}

void ReplayFile::Piece::give_back(SpareBuffers& spare) {
  spare.give(std::move(block));
  if (held.use_count() == 1) spare.give(std::move(held->bytes));
  *this = Piece();
}

void ReplayFile::write(Piece piece) {
  in_flight_ += piece.count;
  store_.on_disk_thread([&store = store_, file = file_, link = link_, executor = executor_,
                         piece = std::move(piece)]() mutable {
    const int error = link->is_wanted ? file->append(piece.view()) : file->abandon();
    const std::size_t count = piece.count;
    // The disk thread releases the memory itself, because the io thread may be busy.
    piece.give_back(store.spare_buffers());
    asio::post(executor, [link = std::move(link), count, error] {
      if (link->file != nullptr) link->file->written(count, error);
    });
  });
}

void ReplayFile::written(std::size_t count, int error) {
  in_flight_ -= count;
  progress_ = net::Tick::now();
  if (error != 0) fail(NotHeld::file_failed, error);
  wake();
}

bool ReplayFile::is_behind() const {
  return in_flight_ > most_in_flight || (in_flight_ > 0 && !store_.memory().has(block_bytes));
}

ReplayFile::Waiter::Waiter(const ReplayFile& file) : pause(file.executor_), all_(file.waiting_) {
  all_->push_back(&pause);
}

ReplayFile::Waiter::~Waiter() { std::erase(*all_, &pause); }

void ReplayFile::wake() {
  for (net::Pause* const pause : *waiting_) pause->cancel();
}

void ReplayFile::fail(NotHeld why, int error) {
  if (!failed_) store_.log_not_held(why, error);
  failed_ = true;
  link_->is_wanted = false;
}

const std::shared_ptr<TemporaryFile>& ReplayFile::flushed() {
  flush();
  return file_;
}

Task<bool> ReplayFile::wait_for_all() {
  flush();
  co_return co_await wait_while(&ReplayFile::is_writing);
}

Instant ReplayFile::end_of_wait(Instant begun) const {
  // The time limit grows with the body's size, because even a fast disk needs more time for a longer body.
  const auto seconds = static_cast<int>(1 + size() / bytes_of_patience);
  const Instant end = begun + (seconds * store_.patience() - waited_);
  return needed_ ? std::min(progress_ + store_.long_patience(), std::max(until_, end))
                 : std::min(until_, end);
}

Task<bool> ReplayFile::wait_while(bool (ReplayFile::*is_busy)() const) {
  cancelled_ = false;
  const Instant begun = net::Tick::now();
  progress_ = begun;
  Waiter waiter(*this);
  while ((this->*is_busy)() && !failed_ && !cancelled_) {
    const Instant limit = end_of_wait(begun);
    if (net::Tick::now() >= limit) {
      fail(NotHeld::disk_slow, 0);
    } else {
      co_await waiter.pause.until(limit);
    }
  }
  waited_ += net::Tick::now() - begun;
  co_return !cancelled_;
}

void ReplayFile::cancel() {
  cancelled_ = true;
  wake();
}

}  // namespace reprise::forward
