#include "proxy/forward/replay/upload.hpp"

#include <boost/asio/co_spawn.hpp>
#include <cassert>

namespace reprise::forward {
namespace {

UploadEnd end_of(const ErrorCode& error) {
  if (!error) return UploadEnd::running;
  return error == asio::error::timed_out ? UploadEnd::upstream_stalled : UploadEnd::upstream_failed;
}

}  // namespace

Upload::Upload(asio::any_io_executor executor, net::RequestSink& upstream, RequestBody& body, Duration idle)
    : executor_(std::move(executor)), upstream_(upstream), body_(body), idle_(idle) {}

// The held body bytes are sent from byte 0; earlier attempts may have sent them already.
void Upload::start(std::string_view head, std::string_view last_lines, UploadListener& listener,
                   std::string_view never_indexed) {
  const bool whole = body_.complete() && body_.stored() == 0;
  const std::string last_trailers = whole ? trailers() : std::string();
  const net::RequestOpening opening{head,  last_lines,    body_.held(), body_.chunked(),
                                    whole, last_trailers, never_indexed};
  body_.sending_begins();
  const ErrorCode error = upstream_.open(opening);
  if (error) {
    end_ = UploadEnd::upstream_failed;
  } else if (whole && upstream_.all_sent()) {
    end_ = UploadEnd::sent;
  } else {
    listener_ = &listener;
    // A slow upstream is not dead: its receive window may stay closed for up to `idle` while it reads a body.
    upstream_.begin_pauses(idle_);
    joined_.emplace(executor_);
    asio::co_spawn(executor_, run(*this), or_abort);
  }
}

// Returns the trailer lines for the upstream. Precondition: the body is complete. In HTTP/2, a body whose
// length the head announces may have trailers too.
std::string Upload::trailers() const {
  std::string lines;
  body_.append_trailers(lines);
  return lines;
}

Task<void> Upload::run(Upload& upload) { upload.finish(co_await upload.pump()); }

// Ends the upload. The result is `stopped` for an upload that is being stopped, even if the kernel took all
// bytes, because the connection accepts no further writes.
void Upload::finish(UploadEnd end) {
  end_ = stopping_ ? UploadEnd::stopped : end;
  upstream_.end_pauses();
  if (!stopping_ && listener_ != nullptr) listener_->upload_ended(end);
  joined_->cancel();
}

Task<UploadEnd> Upload::pump() {
  if (const ErrorCode error = co_await upstream_.send_rest(idle_)) co_return end_of(error);
  if (body_.stored() > 0) {
    const UploadEnd sent = co_await send_stored();
    if (sent != UploadEnd::running) co_return sent;
  }
  for (;;) {
    if (stopping_) co_return UploadEnd::stopped;
    if (!holds_) body_.release_held();
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

void Upload::stop_holding() {
  holds_ = false;
  // While it waits for the client, every byte that was read is sent.
  if (end_ == UploadEnd::sent || body_.waits_for_client()) body_.release_held();
}

Task<UploadEnd> Upload::send_piece(std::string_view piece) {
  co_return end_of(co_await upstream_.send_piece(piece, idle_));
}

Task<UploadEnd> Upload::send_last() {
  const ErrorCode error = co_await upstream_.send_end(trailers(), idle_);
  co_return error ? end_of(error) : UploadEnd::sent;
}

Task<void> Upload::stop() {
  if (end_ != UploadEnd::running) co_return;
  assert(joined_);
  stopping_ = true;
  // Stops only the sending, because the body of an early response may still have to be read (row C5).
  upstream_.end_sending();
  body_.end_read();
  body_.cancel();
  if (stored_ != nullptr) stored_->cancel();
  if (end_ == UploadEnd::running) co_await joined_->until(Instant::max());
}

}  // namespace reprise::forward
