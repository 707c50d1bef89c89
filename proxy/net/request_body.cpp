#include "proxy/net/request_body.hpp"

#include "proxy/http/rewrite.hpp"

namespace reprise::net {

using http::Framing;

void RequestBody::begin(Stream& client, Buffer& buffer, ReplayMemory& memory, const http::RequestHead& head,
                        std::size_t hold_bytes) {
  const Framing& framing = head.framing;
  memory_ = &memory;
  head_ = &head;
  framing_ = framing;
  received_ = 0;
  replayable_ = true;
  over_limit_ = false;
  const bool counted = framing.kind == Framing::Kind::length;
  // A body that is known to be too long is not held at all.
  hold_bytes_ = counted && framing.length > hold_bytes ? 0 : hold_bytes;
  if (counted && framing.length > 0 && framing.length <= buffer.size()) {
    in_place_ = buffer.view().substr(0, static_cast<std::size_t>(framing.length));
    buffer.consume(in_place_.size());
    received_ = in_place_.size();
  }
  reader_.begin(client, buffer, framing);
}

void RequestBody::end() {
  stop_holding();
  in_place_ = {};
  framing_ = {};
  reader_.end();
}

void RequestBody::stop_holding() {
  if (!held_.empty()) memory_->give_back(held_.size());
  std::string().swap(held_);
}

void RequestBody::hold(std::string_view piece) {
  received_ += piece.size();
  if (!replayable_ || piece.empty()) return;
  if (held_.size() + piece.size() <= hold_bytes_ && memory_->take(piece.size())) {
    held_.append(piece);
    return;
  }
  replayable_ = false;
  stop_holding();
}

void RequestBody::append_trailers(std::string& out) const {
  http::append_trailers(reader_.trailers(), head_->fields, out);
}

Task<BodyStep> RequestBody::next(Duration idle, std::string_view& piece) {
  if (complete()) co_return BodyStep::end;
  const BodyStep step = co_await reader_.next(idle, piece);
  if (step == BodyStep::piece) hold(piece);
  co_return step;
}

}  // namespace reprise::net
