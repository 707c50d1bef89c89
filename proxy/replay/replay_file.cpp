#include "proxy/replay/replay_file.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>

namespace reprise::net {

ReplayFile::ReplayFile(ReplayStore& store, const asio::any_io_executor& executor)
    : store_(store),
      executor_(executor),
      file_(store.make_file()),
      link_(std::make_shared<Link>(Link{this})),
      allotment_(store.disk()) {}

// Closing frees the blocks of the file, which takes a disk its time.
ReplayFile::~ReplayFile() {
  link_->file = nullptr;
  store_.on_disk_thread([file = std::move(file_), allotment = std::move(allotment_)]() mutable {
    file.reset();
    allotment.release();
  });
}

bool ReplayFile::append(std::string_view bytes) {
  if (failed_) return false;
  if (!allotment_.grow(bytes.size())) {
    store_.tell(NotHeld::disk_spent);
    return false;
  }
  while (!bytes.empty()) {
    if (filling_.capacity() < block_bytes && !spare_.empty()) {
      filling_ = std::move(spare_.back());
      spare_.pop_back();
    }
    filling_.reserve(block_bytes);
    const std::string_view part = bytes.substr(0, block_bytes - filling_.size());
    filling_.append(part);
    bytes.remove_prefix(part.size());
    if (filling_.size() == block_bytes) flush();
  }
  return true;
}

bool ReplayFile::append_held(std::string&& bytes, Allotment&& memory) {
  if (!allotment_.grow(bytes.size())) {
    store_.tell(NotHeld::disk_spent);
    return false;
  }
  const auto held = std::make_shared<Held>(Held{std::move(bytes), std::move(memory)});
  const std::size_t size = held->bytes.size();
  for (std::size_t offset = 0; offset < size; offset += block_bytes) {
    write({{}, held, offset, std::min(block_bytes, size - offset)});
  }
  return true;
}

void ReplayFile::flush() {
  if (filling_.empty()) return;
  const std::size_t count = filling_.size();
  write({std::move(filling_), nullptr, 0, count});
  filling_ = std::string();
}

void ReplayFile::write(Piece piece) {
  in_flight_ += piece.count;
  store_.on_disk_thread(
      [file = file_, link = link_, executor = executor_, piece = std::move(piece)]() mutable {
        const int error = file->append(piece.view());
        // Held memory goes back here, and not when the io thread has time for it.
        piece.held.reset();
        asio::post(executor, [link = std::move(link), piece = std::move(piece), error]() mutable {
          if (link->file != nullptr) link->file->written(std::move(piece), error);
        });
      });
}

void ReplayFile::written(Piece piece, int error) {
  in_flight_ -= piece.count;
  progress_ = Tick::now();
  if (!piece.block.empty() && spare_.size() < 2) {
    piece.block.clear();
    spare_.push_back(std::move(piece.block));
  }
  if (error != 0) fail(NotHeld::file_failed, error);
  wake();
}

ReplayFile::Waiter::Waiter(const ReplayFile& file) : pause(file.executor_), all_(file.waiting_) {
  all_->push_back(&pause);
}

ReplayFile::Waiter::~Waiter() { std::erase(*all_, &pause); }

void ReplayFile::wake() {
  for (Pause* const pause : *waiting_) pause->cancel();
}

void ReplayFile::fail(NotHeld why, int error) {
  if (!failed_) store_.tell(why, error);
  failed_ = true;
}

const std::shared_ptr<TemporaryFile>& ReplayFile::flushed() {
  flush();
  return file_;
}

Task<bool> ReplayFile::wait_for_all() {
  flush();
  co_return co_await wait_until_below(0);
}

Task<bool> ReplayFile::wait_until_below(std::size_t bytes) {
  cancelled_ = false;
  progress_ = Tick::now();
  Waiter waiter(*this);
  while (in_flight_ > bytes && !failed_ && !cancelled_) {
    const Instant limit = progress_ + store_.patience();
    if (Tick::now() >= limit) {
      fail(NotHeld::disk_slow, 0);
    } else {
      co_await waiter.pause.until(limit);
    }
  }
  co_return !cancelled_;
}

void ReplayFile::cancel() {
  cancelled_ = true;
  wake();
}

}  // namespace reprise::net
