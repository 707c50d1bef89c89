#include "proxy/forward/replay/replay_reader.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>

namespace reprise::forward {

ReplayReader::ReplayReader(ReplayStore& store, std::shared_ptr<TemporaryFile> file, std::uint64_t size,
                           const asio::any_io_executor& executor)
    : store_(store),
      executor_(executor),
      pause_(executor),
      file_(std::move(file)),
      link_(std::make_shared<Link>(Link{this})),
      size_(size) {}

// Passes the file to the disk thread, because the last owner of a file closes it and only that thread may do
// so.
ReplayReader::~ReplayReader() {
  link_->reader = nullptr;
  store_.on_disk_thread([file = std::move(file_)]() mutable { file.reset(); });
}

void ReplayReader::request_piece() {
  has_piece_ = false;
  const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(piece_bytes, size_ - offset_));
  block_.resize(count);
  store_.on_disk_thread([file = file_, link = link_, executor = executor_, block = std::move(block_),
                         offset = offset_]() mutable {
    const int error = file->read(block.data(), block.size(), offset);
    asio::post(executor, [link = std::move(link), block = std::move(block), error]() mutable {
      if (link->reader != nullptr) link->reader->arrived(std::move(block), error);
    });
  });
}

void ReplayReader::arrived(std::string block, int error) {
  block_ = std::move(block);
  has_piece_ = true;
  if (error != 0) lose(NotHeld::file_failed, error);
  pause_.cancel();
}

void ReplayReader::lose(NotHeld why, int error) {
  lost_ = true;
  store_.log_not_held(why, error);
}

Task<bool> ReplayReader::next(std::string_view& piece) {
  request_piece();
  const Instant limit = net::Tick::now() + store_.long_patience();
  while (!has_piece_ && !cancelled_ && !lost_) {
    if (net::Tick::now() >= limit) {
      lose(NotHeld::disk_slow, 0);
    } else {
      co_await pause_.until(limit);
    }
  }
  if (!has_piece_ || lost_ || cancelled_) co_return false;
  piece = block_;
  offset_ += piece.size();
  co_return true;
}

void ReplayReader::cancel() {
  cancelled_ = true;
  pause_.cancel();
}

}  // namespace reprise::forward
