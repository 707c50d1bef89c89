#include "proxy/forward/replay/request_body.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

#include "proxy/http/http1/rewrite.hpp"

namespace reprise::forward {

using http::Framing;

void RequestBody::begin(net::BodySource& client, ReplayStore& store, const http::RequestHead& head,
                        HoldLimits limits) {
  const Framing& framing = head.framing;
  client_ = &client;
  store_ = &store;
  head_ = &head;
  framing_ = framing;
  limits_ = limits;
  wanted_ = limits.memory > 0 || limits.disk > 0;
  memory_ = Allotment(store.memory());
  waited_ = {};
  replayable_ = true;
  uncounted_ = piece_in_use_ = false;
  unheld_ = {};
  in_place_ = client.take_whole();
  received_ = in_place_.size();
  over_limit_ = in_place_.size() > limits.in_place;
  // A body that is known to be too long for memory goes straight to disk.
  if (framing.kind == Framing::Kind::length && framing.length > limits.memory) limits_.memory = 0;
}

void RequestBody::end() {
  release_held();
  in_place_ = unheld_ = {};
  head_ = nullptr;
  framing_ = {};
  limits_ = {};
  received_ = 0;
  over_limit_ = wanted_ = uncounted_ = cancelled_ = false;
  waited_ = {};
  if (client_ != nullptr) client_->end();
  client_ = nullptr;
}

void RequestBody::release_held() {
  replayable_ = false;
  file_.reset();
  if (!held_.empty()) store_->spare_buffers().give(std::move(held_));
  memory_.release();
}

void RequestBody::hold(std::string_view piece, Allotment block) {
  if (replayable_ && !add(piece, std::move(block))) release_held();
  received_ += piece.size();
  // No more bytes will fill the last block. Flushing the block releases its memory while the response is
  // pending.
  if (file_ != nullptr && complete()) file_->flush();
}

// Adds a piece to the held bytes. Returns false if a limit is reached or the disk has failed; no held bytes
// are lost then.
bool RequestBody::add(std::string_view piece, Allotment block) {
  if (piece.empty()) return true;
  return received_ + piece.size() <= limits_.memory ? add_in_memory(piece)
                                                    : add_on_disk(piece, std::move(block));
}

bool RequestBody::add_in_memory(std::string_view piece) {
  if (!memory_.grow(piece.size(), store_->kept_for_disk())) {
    store_->log_not_held(NotHeld::memory_spent);
    return false;
  }
  make_room_for(held_.size() + piece.size());
  held_.append(piece);
  return true;
}

// Allocates the whole length if it is known, otherwise doubles the capacity. Does not use the string's own
// growth, because that would request pages from the system repeatedly.
void RequestBody::make_room_for(std::size_t bytes) {
  if (bytes <= held_.capacity() || bytes < SpareBuffers::least_bytes) return;
  const bool counted = framing_.kind == Framing::Kind::length;
  std::string longer =
      store_->spare_buffers().take(counted ? static_cast<std::size_t>(framing_.length) : bytes);
  longer.append(held_);
  store_->spare_buffers().give(std::exchange(held_, std::move(longer)));
}

bool RequestBody::add_on_disk(std::string_view piece, Allotment block) {
  // A body that is known to be too long is not written at all.
  const bool counted = framing_.kind == Framing::Kind::length;
  const std::uint64_t length = counted ? framing_.length : received_ + piece.size();
  if (length > limits_.disk) {
    if (wanted_) store_->log_not_held(NotHeld::too_long);
    return false;
  }
  if (file_ == nullptr) {
    auto file = std::make_unique<ReplayFile>(*store_, executor(), limits_.until);
    if (!held_.empty() && !file->append_held(std::move(held_), std::move(memory_))) return false;
    held_.clear();
    file_ = std::move(file);
  }
  return file_->append(piece, std::move(block));
}

std::unique_ptr<ReplayReader> RequestBody::read_stored() {
  assert(stored() > 0);
  return std::make_unique<ReplayReader>(*store_, file_->flushed(), file_->size(), executor());
}

void RequestBody::append_trailers(std::string& out) const {
  if (client_ == nullptr || client_->trailers().empty()) return;
  http::append_trailers(client_->trailers(), head_->fields, out);
}

Task<net::BodyStep> RequestBody::next(Duration idle, std::string_view& piece) {
  piece_in_use_ = false;
  if (complete()) {
    // The response may take long, so the source's memory is released now.
    client_->give_back();
    co_return end_reached();
  }
  if (file_ != nullptr && file_->is_behind() && !co_await file_->wait_for_room()) {
    co_return net::BodyStep::stalled;
  }
  if (unheld_.empty()) {
    waits_for_client_ = true;
    const net::BodyStep step = co_await client_->next(idle, unheld_);
    waits_for_client_ = false;
    if (step != net::BodyStep::piece) {
      unheld_ = {};
      co_return step == net::BodyStep::end ? end_reached() : step;
    }
  }
  if (received_ + unheld_.size() > limits_.most) co_return net::BodyStep::malformed;
  Allotment block(store_->memory());
  if (is_for_disk() && !co_await take_block(block)) co_return net::BodyStep::stalled;
  piece = unheld_.substr(0, part_that_is_held());
  unheld_.remove_prefix(piece.size());
  hold(piece, std::move(block));
  piece_in_use_ = true;
  co_return net::BodyStep::piece;
}

net::BodyStep RequestBody::end_reached() {
  if (net::Cancellable* const waiting = waits_for_end_.get()) waiting->cancel();
  return net::BodyStep::end;
}

bool RequestBody::is_for_disk() const {
  return replayable_ && limits_.disk > 0 && received_ + unheld_.size() > limits_.memory;
}

// Takes memory for the next block. If the blocks of other bodies use all memory, waits for them. Returns
// false if `cancel` ended the wait.
Task<bool> RequestBody::take_block(Allotment& block) {
  constexpr Duration look = std::chrono::milliseconds(5);
  cancelled_ = false;
  if (file_ != nullptr && file_->room_in_block() < ReplayFile::block_bytes) co_return true;
  net::Pause pause(executor());
  while (!cancelled_ && !block.grow(ReplayFile::block_bytes)) {
    const Instant begun = net::Tick::now();
    if (waited_ >= store_->patience() || begun >= limits_.until) break;
    co_await pause.until(begun + look);
    waited_ += net::Tick::now() - begun;
  }
  co_return !cancelled_;
}

// Returns how many of the bytes in `unheld_` can be held now: all of them, or at most the rest of a block if
// memory is short. The body then goes to disk block by block, and each block waits for the previous write.
std::size_t RequestBody::part_that_is_held() const {
  const bool is_short = is_for_disk() && !store_->memory().has(unheld_.size() + ReplayFile::block_bytes);
  const std::size_t room = file_ == nullptr ? ReplayFile::block_bytes : file_->room_in_block();
  return is_short ? std::min(unheld_.size(), room) : unheld_.size();
}

Task<net::BodyStep> RequestBody::count(Duration idle) {
  net::BodyStep step = net::BodyStep::piece;
  while (step == net::BodyStep::piece && unheld_.empty() && replayable() && !complete()) {
    if (file_ != nullptr) file_->require_file();
    if (file_ != nullptr && file_->is_behind() && !co_await file_->wait_for_room()) {
      co_return net::BodyStep::stalled;
    }
    std::string_view piece;
    step = co_await client_->next(idle, piece);
    if (step != net::BodyStep::piece) continue;
    if (received_ + piece.size() > limits_.most) {
      unheld_ = piece;
      co_return net::BodyStep::malformed;
    }
    if (add(piece, Allotment(store_->memory()))) {
      received_ += piece.size();
    } else {
      unheld_ = piece;
    }
  }
  if (step == net::BodyStep::piece && complete()) step = net::BodyStep::end;
  if (step == net::BodyStep::end || step == net::BodyStep::piece) co_await settle();
  uncounted_ = !replayable();
  if (uncounted_) co_return net::BodyStep::malformed;
  if (step == net::BodyStep::end) framing_ = {Framing::Kind::length, received_};
  co_return step;
}

Task<void> RequestBody::settle() {
  if (file_ != nullptr) co_await file_->wait_for_all();
}

void RequestBody::cancel() {
  cancelled_ = true;
  if (file_ != nullptr) file_->cancel();
}

}  // namespace reprise::forward
