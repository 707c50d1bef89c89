#include "proxy/forward/replay/upload.hpp"

#include <boost/asio/co_spawn.hpp>
#include <cassert>

namespace reprise::forward {
namespace {

constexpr std::string_view line_end = "\r\n";

UploadEnd end_of(const ErrorCode& error) {
  if (!error) return UploadEnd::running;
  return error == asio::error::timed_out ? UploadEnd::upstream_stalled : UploadEnd::upstream_failed;
}

}  // namespace

Upload::Upload(asio::any_io_executor executor, net::Stream& upstream, RequestBody& body, Duration idle)
    : executor_(std::move(executor)), upstream_(upstream), body_(body), idle_(idle) {}

void Upload::start(std::string_view head, std::string_view last_lines, UploadListener& listener) {
  pending_.add(head);
  pending_.add(last_lines);
  gather_held();
  body_.sending_begins();
  const ErrorCode error = upstream_.write_now(pending_);
  if (error) {
    end_ = UploadEnd::upstream_failed;
  } else if (pending_.empty() && body_.complete() && body_.stored() == 0) {
    end_ = UploadEnd::sent;
  } else {
    listener_ = &listener;
    // A slow upstream is not dead: its receive window may stay closed for up to `idle` while it reads a body.
    usual_timeout_ = upstream_.user_timeout();
    upstream_.set_user_timeout(idle_);
    joined_.emplace(executor_);
    asio::co_spawn(executor_, run(*this), or_abort);
  }
}

// Queues the held body bytes from byte 0, which earlier attempts may have sent already. If the body is
// chunked, the bytes become one chunk.
void Upload::gather_held() {
  const std::string_view held = body_.held();
  if (body_.chunked() && !held.empty()) {
    http::write_chunk_size(held.size(), size_line_);
    pending_.add(size_line_);
    pending_.add(held);
    pending_.add(line_end);
  } else {
    pending_.add(held);
  }
  if (!body_.complete() || !body_.chunked() || body_.stored() > 0) return;
  gather_last();
  last_is_gathered_ = true;
}

void Upload::gather_last() {
  std::string trailers;
  body_.append_trailers(trailers);
  http::write_last_chunk(trailers, last_chunk_);
  pending_.add(last_chunk_);
}

Task<void> Upload::run(Upload& upload) { upload.finish(co_await upload.pump()); }

// Ends the upload. The result is `stopped` for an upload that is being stopped, even if the kernel took all
// bytes, because the connection accepts no further writes.
void Upload::finish(UploadEnd end) {
  end_ = stopping_ ? UploadEnd::stopped : end;
  upstream_.set_user_timeout(usual_timeout_);
  if (!stopping_ && listener_ != nullptr) listener_->upload_ended(end);
  joined_->cancel();
}

Task<UploadEnd> Upload::pump() {
  if (const ErrorCode error = co_await upstream_.write_all(pending_, idle_)) co_return end_of(error);
  if (body_.stored() > 0) {
    const UploadEnd sent = co_await send_stored();
    if (sent != UploadEnd::running) co_return sent;
  }
  for (;;) {
    if (stopping_) co_return UploadEnd::stopped;
    std::string_view piece;
    const net::BodyStep step = co_await body_.next(idle_, piece);
    if (stopping_) co_return UploadEnd::stopped;
    if (step == net::BodyStep::malformed) co_return UploadEnd::malformed;
    if (step == net::BodyStep::end) co_return co_await send_last();
    if (step == net::BodyStep::stalled) co_return UploadEnd::client_stalled;
    if (step != net::BodyStep::piece) co_return UploadEnd::client_gone;
    const UploadEnd sent = co_await send_piece(piece);
    if (sent != UploadEnd::running) co_return sent;
  }
}

// Sends the part of the body that is on disk. If this part cannot be read, closes the connection, so that the
// upstream never takes an incomplete body for a complete one.
Task<UploadEnd> Upload::send_stored() {
  stored_ = body_.read_stored();
  UploadEnd end = UploadEnd::running;
  while (end == UploadEnd::running && !stored_->at_end()) {
    std::string_view piece;
    const bool read = !stopping_ && co_await stored_->next(piece);
    if (stopping_) {
      end = UploadEnd::stopped;
    } else if (!read) {
      end = UploadEnd::replay_lost;
    } else {
      end = co_await send_piece(piece);
    }
  }
  stored_.reset();
  co_return end;
}

Task<UploadEnd> Upload::send_piece(std::string_view piece) {
  pending_ = net::Gather();
  if (body_.chunked()) {
    size_line_.clear();
    http::write_chunk_size(piece.size(), size_line_);
    pending_.add(size_line_);
    pending_.add(piece);
    pending_.add(line_end);
  } else {
    pending_.add(piece);
  }
  const ErrorCode error = co_await upstream_.write_all(pending_, idle_);
  co_return end_of(error);
}

Task<UploadEnd> Upload::send_last() {
  if (!body_.chunked() || last_is_gathered_) co_return UploadEnd::sent;
  pending_ = net::Gather();
  gather_last();
  const ErrorCode error = co_await upstream_.write_all(pending_, idle_);
  co_return error ? end_of(error) : UploadEnd::sent;
}

Task<void> Upload::stop() {
  if (end_ != UploadEnd::running) co_return;
  assert(joined_);
  stopping_ = true;
  // Stops only the sending, because the body of an early response may still have to be read (row C5).
  upstream_.end_writing();
  body_.client().end_read();
  body_.cancel();
  if (stored_ != nullptr) stored_->cancel();
  if (end_ == UploadEnd::running) co_await joined_->until(Instant::max());
}

}  // namespace reprise::forward
