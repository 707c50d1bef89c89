#include "tests/simulation/http2_upstream.hpp"

#include <algorithm>
#include <utility>

#include "tests/simulation/request_head.hpp"

namespace reprise::simulation {

using play::FrameType;

namespace {

constexpr std::int32_t highest_id = 0x7fffffff;

StreamEnd end_of(policy::Http2Code code) {
  if (code == policy::Http2Code::refused_stream) return StreamEnd::refused;
  return code == policy::Http2Code::http_1_1_required ? StreamEnd::needs_http1 : StreamEnd::reset;
}

}  // namespace

Http2Upstream::Http2Upstream(Seed seed, World& world, Faults& faults, Book& book, std::shared_ptr<Wire> wire,
                             Canary canary, const Http2Terms& terms, std::uint64_t number)
    : seed_(seed),
      world_(world),
      faults_(faults),
      book_(book),
      canary_(canary),
      wire_(std::move(wire)),
      pieces_(seed, Purpose::pieces, 6'000'000 + number),
      plan_(plan_connection(seed, faults, number)),
      idle_limit_(draw_idle_limit(seed)),
      intake_(seed, world, faults, book, *wire_, canary, terms, plan_) {
  wire_->attach(this);
  wire_->on_offer([this](std::string_view first, std::size_t taken) { offered(first, taken); });
  wire_->on_swallow([this](std::string_view first, std::size_t taken) { swallowed(first, taken); });
}

Http2Upstream::~Http2Upstream() {
  plain_.reset();
  wire_->attach(nullptr);
  wire_->on_offer({});
  wire_->on_swallow({});
}

template <typename Action>
void Http2Upstream::after(Duration wait, Action action) {
  world_.after(wait, [this, alive = std::weak_ptr<char>(alive_), action] {
    if (alive.expired() || over_) return;
    action();
    pump();
  });
}

void Http2Upstream::offered(std::string_view first, std::size_t taken) {
  if (!std::exchange(decided_, true) && !first.starts_with("PRI * HTTP/2.0")) {
    book_.reached(Http2Mark::sent_over_http1);
    plain_ = std::make_unique<Upstream>(seed_, world_, faults_, book_, wire_, canary_);
    return plain_->offered(first, taken);
  }
  const std::string_view bytes = wire_->received();
  intake_.take(bytes.substr(bytes.size() - taken), true);
}

void Http2Upstream::swallowed(std::string_view first, std::size_t taken) {
  decided_ = true;
  intake_.take(first.substr(0, taken), false);
}

void Http2Upstream::look() {
  if (over_) return;
  if (wire_->was_reset() || wire_->proxy_let_go()) return proxy_left();
  read();
  pump();
}

// The proxy closes a connection only if none of its requests needs the connection (row M66). While a request
// is being sent, the frame that cancels another stream may wait in the proxy.
void Http2Upstream::proxy_left() {
  const bool has_cause = violated_ || finished_ || plan_.is_not_http2 || wire_->sealed() ||
                         wire_->has_vanished() || book_.stopping();
  const auto& streams = intake_.streams();
  const bool has_streams = std::any_of(streams.begin(), streams.end(), [](const auto& each) {
    return each.second->is_open() && !each.second->excluded;
  });
  const bool all_sent = std::all_of(streams.begin(), streams.end(),
                                    [](const auto& each) { return each.second->request_ended; });
  if (!has_cause && has_streams && all_sent)
    book_.broken("the proxy closes no connection on which a stream is open");
  lose(StreamEnd::connection);
  over_ = true;
}

void Http2Upstream::reset() {
  if (over_) return;
  if (!wire_->has_vanished()) lose(StreamEnd::connection);
  over_ = true;
  wire_->reset();
}

void Http2Upstream::die_unseen() {
  over_ = true;
  wire_->reset();
}

void Http2Upstream::read() {
  const std::size_t bytes = wire_->received().size();
  if (bytes == 0) return;
  if (finished_) return reset();  // bytes arrived on a connection that this end has closed
  if (read_ == 0) begin_connection();
  read_ += bytes;
  wire_->consume(bytes);
  for (WrittenFrame frame; !over_ && intake_.next(read_, frame);) handle(frame);
}

void Http2Upstream::begin_connection() {
  if (plan_.is_not_http2) {
    queue("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
    ends_ = false;
    return;
  }
  if (plan_.never_ready) return;
  if (plan_.ready_after == Duration::zero()) return send_settings();
  after(plan_.ready_after, [this] { send_settings(); });
}

void Http2Upstream::send_settings() {
  std::vector<std::pair<unsigned, std::uint32_t>> entries;
  if (book_.telling())
    book_.tell("an HTTP/2 connection is ready, " +
               (plan_.streams ? std::to_string(*plan_.streams) : std::string("any number of")) + " streams");
  if (plan_.streams) entries.emplace_back(play::max_concurrent_streams, *plan_.streams);
  if (plan_.window != 65'535) entries.emplace_back(play::initial_window_size, plan_.window);
  queue(play::settings(entries) + play::frame(FrameType::settings, play::ack, 0, ""));
  if (pieces_.one_in(4)) queue(play::frame(FrameType::ping, 0, 0, "12345678"));
  if (plan_.later_streams) {
    after(plan_.later, [this] {
      if (finished_ || ends_) return;
      queue(play::settings({{play::max_concurrent_streams, *plan_.later_streams}}));
      if (book_.telling()) book_.tell("the limit is " + std::to_string(*plan_.later_streams) + " streams");
      intake_.note_later_limit();
    });
  }
  leave_if(Leaves::at_once, nullptr);
}

void Http2Upstream::handle(const WrittenFrame& frame) {
  if (frame.type == FrameType::settings) return take_settings(frame);
  if (frame.type == FrameType::window_update) return take_window(frame);
  RequestStream* const stream = intake_.find(frame.stream);
  if (stream == nullptr) return;
  Sending& sending = sendings_[frame.stream];
  if (sending.stream == nullptr) {
    sending.stream = stream;
    sending.window = stream_window_;
    sending.pause = stream->plan.pause;
  }
  stream->account->moved = world_.now();
  if (frame.type == FrameType::rst_stream) {
    sending.silent = true;
    return quiet();
  }
  const bool is_head = frame.type == FrameType::headers;
  if (is_head) head_came(sending);
  if (frame.type == FrameType::data) take_data(sending, frame);
  if (over_) return;
  const auto& resets = stream->plan.resets;
  if (resets && !stream->excluded && stream->accepted >= *resets) return reset();
  const bool carries = is_head || frame.type == FrameType::data;
  if (carries && (frame.flags & play::end_stream) != 0) request_came(sending);
}

void Http2Upstream::take_settings(const WrittenFrame& frame) {
  if ((frame.flags & play::ack) != 0) return;
  constexpr std::size_t entry = 6;
  for (std::size_t i = 0; i + entry <= frame.payload.size(); i += entry) {
    const std::string_view pair = std::string_view(frame.payload).substr(i, entry);
    if (play::read_big_endian(pair.substr(0, 2)) == play::initial_window_size)
      stream_window_ = play::read_big_endian(pair.substr(2));
  }
}

void Http2Upstream::take_window(const WrittenFrame& frame) {
  const std::uint32_t bytes = play::read_big_endian(frame.payload);
  if (frame.stream != 0) {
    const auto place = sendings_.find(frame.stream);
    if (place != sendings_.end()) place->second.window += bytes;
    return;
  }
  window_ += bytes;
  if (spent_ == 0) return;
  returned_ += bytes;
  book_.reached(Http2Mark::connection_window_moved);
  if (returned_ > spent_) book_.broken("the proxy gives back no more of a window than was used");
}

void Http2Upstream::head_came(Sending& sending) {
  RequestStream& stream = *sending.stream;
  leave_if(Leaves::at_last_head, &stream);
  leave_if(Leaves::at_next_head, &stream);
  if (!stream.request_ended && stream.window < 500 && !stream.plan.unread) reopen(sending, 0);
  if (stream.plan.early) respond(sending);
}

void Http2Upstream::take_data(Sending& sending, const WrittenFrame& frame) {
  unread_ += frame.bytes;
  sending.unread += frame.bytes;
  if (unread_ > 10'000 || pieces_.one_in(3)) {
    const auto bytes = static_cast<std::uint32_t>(std::exchange(unread_, 0));
    if (bytes > 0) {
      intake_.grant(0, bytes);
      queue(play::window_update(0, bytes));
    }
  }
  RequestStream& stream = *sending.stream;
  if (stream.request_ended || stream.was_reset || stream.plan.unread || stream.excluded) return;
  if (stream.window < 500 || pieces_.one_in(3)) reopen(sending, std::exchange(sending.unread, 0));
}

// Reopens the window for what the proxy may send on a stream. A small window grows, so that an upload needs
// few frames.
void Http2Upstream::reopen(Sending& sending, std::size_t bytes) {
  RequestStream& stream = *sending.stream;
  const auto granted = static_cast<std::uint32_t>(bytes + (stream.window < 500 ? 3000 : 0));
  if (granted == 0) return;
  intake_.grant(stream.id, granted);
  queue(play::window_update(stream.id, granted));
}

void Http2Upstream::request_came(Sending& sending) {
  sending.whole = true;
  leave_if(Leaves::at_next_request, sending.stream);
  if (!sending.begun) {
    if (!sending.stream->plan.unread) respond(sending);
  } else if (sending.stream->response_ended) {
    close_stream(sending);
  }
}

void Http2Upstream::respond(Sending& sending) {
  RequestStream& stream = *sending.stream;
  if (sending.begun || stream.excluded || stream.was_reset || stream.cancelled) return;
  sending.begun = true;
  const StreamPlan& plan = stream.plan;
  stream.account->served.push_back({plan.version, plan.status, plan.tells});
  stream.account->ended_before_its_end = stream.account->ended_before_its_end || plan.too_long;
  if (book_.telling())
    book_.tell("request " + std::to_string(stream.account->plan.id) + ": answering " +
               std::to_string(plan.status) + " version " + std::to_string(plan.version) + ", " +
               std::to_string(plan.parts.size()) + " parts, stop " +
               std::to_string(static_cast<int>(plan.stop)) + " after " +
               (plan.stop == Stop::none ? std::string("all") : std::to_string(plan.stops_at)) + ", code " +
               std::to_string(static_cast<unsigned>(plan.code)));
  if (plan.wait == Duration::zero()) return;
  sending.pausing = true;
  after(plan.wait, [&sending] { sending.pausing = false; });
}

bool Http2Upstream::can_send(const Sending& sending) const {
  if (!sending.begun || sending.pausing || sending.silent || sending.stream->was_reset) return false;
  const StreamPlan& plan = sending.stream->plan;
  if (sending.part == plan.stops_at && sending.offset == 0) return true;
  if (sending.part >= plan.parts.size()) return false;
  const ResponsePart& part = plan.parts[sending.part];
  return part.kind != ResponsePart::Kind::body || part.bytes.empty() || (sending.window > 0 && window_ > 0);
}

Http2Upstream::Sending* Http2Upstream::next_sending() {
  std::vector<Sending*> ready;
  for (auto& [id, sending] : sendings_) {
    if (sending.stream != nullptr && can_send(sending)) ready.push_back(&sending);
  }
  return ready.empty() ? nullptr : ready[pieces_.below(ready.size())];
}

// Joins some frames, and sends them cut anywhere.
void Http2Upstream::pump() {
  while (!over_ && !finished_) {
    while (!ends_ && (out_.empty() || pieces_.one_in(2))) {
      Sending* const sending = next_sending();
      if (sending == nullptr) break;
      send_part(*sending);
    }
    if (out_.empty()) break;
    const std::size_t most = pieces_.one_in(2) ? out_.size() : pieces_.between(1, out_.size());
    const std::size_t taken = wire_->send(std::string_view(out_).substr(0, most));
    out_.erase(0, taken);
    if (taken == 0) return;
    if (out_.empty() && std::exchange(tells_leave_, false) && !wire_->has_vanished()) intake_.note_leave();
  }
  if (!over_ && !finished_ && ends_ && out_.empty()) end_connection(*ends_);
}

void Http2Upstream::send_part(Sending& sending) {
  RequestStream& stream = *sending.stream;
  StreamPlan& plan = stream.plan;
  if (sending.part == plan.stops_at && sending.offset == 0) return stop(sending);
  const ResponsePart& part = plan.parts[sending.part];
  if (part.kind == ResponsePart::Kind::body) {
    send_body(sending, part);
  } else {
    const std::size_t splits = pieces_.one_in(6) ? part.bytes.size() / 2 + 1 : 0;
    queue(block_frames(stream.id, part.bytes, part.ends, splits));
    if (part.kind == ResponsePart::Kind::trailers) book_.reached(Http2Mark::trailers);
    stream.journey().responded = true;
    stream.response_ended = part.ends;
    stream.response_ended_at = world_.now();
    ++sending.part;
  }
  ++frames_;
  if (stream.response_ended && sending.whole) close_stream(sending);
  leave_if(Leaves::at_some_frame, nullptr);
  const bool is_over = sending.part == plan.parts.size() && plan.stops_at > sending.part;
  if (sending.pause == Duration::zero() || is_over) return;
  sending.pausing = true;
  after(std::exchange(sending.pause, sending.pause / 2), [&sending] { sending.pausing = false; });
}

void Http2Upstream::send_body(Sending& sending, const ResponsePart& part) {
  RequestStream& stream = *sending.stream;
  const std::string_view rest = std::string_view(part.bytes).substr(sending.offset);
  const std::int64_t room = std::max<std::int64_t>(
      0, std::min({sending.window, window_, static_cast<std::int64_t>(most_frame_bytes)}));
  std::int64_t bytes = std::min(room, static_cast<std::int64_t>(rest.size()));
  if (bytes > 1 && pieces_.one_in(4))
    bytes = static_cast<std::int64_t>(pieces_.between(1, static_cast<std::uint64_t>(bytes)));
  std::string piece(rest.substr(0, static_cast<std::size_t>(bytes)));
  unsigned flags = 0;
  if (room > bytes + 1 && pieces_.one_in(8)) {
    const std::uint64_t padding =
        pieces_.between(0, static_cast<std::uint64_t>(std::min<std::int64_t>(room - bytes - 1, 255)));
    piece = static_cast<char>(padding) + piece + std::string(padding, '\0');
    flags |= play::padded;
  }
  if (canary_ == Canary::wrong_byte && bytes > 400) piece[static_cast<std::size_t>(bytes) - 20] = '~';
  sending.offset += static_cast<std::size_t>(bytes);
  const bool is_last = sending.offset == part.bytes.size();
  if (is_last && part.ends) flags |= play::end_stream;
  queue(play::data(stream.id, piece, flags));
  if (spent_ == 0) full_window_ = window_;
  const auto spent = static_cast<std::int64_t>(piece.size());
  sending.window -= spent;
  window_ -= spent;
  spent_ += static_cast<std::uint64_t>(spent);
  check_window();
  if (sending.window <= 0) book_.reached(Http2Mark::stream_window_closed);
  if (!is_last) return;
  stream.response_ended = part.ends;
  stream.response_ended_at = world_.now();
  sending.offset = 0;
  ++sending.part;
}

// Row M104. The proxy gives back a part of the connection's window when half of the window was used, at once:
// it does not wait until a client takes the bytes.
void Http2Upstream::check_window() {
  const auto is_due = [this] {
    return static_cast<std::int64_t>(spent_ - returned_) >= full_window_ / 2 + (full_window_ & 1);
  };
  if (checks_window_ || !is_due()) return;
  checks_window_ = true;
  after(std::chrono::milliseconds(200), [this, is_due, returned = returned_] {
    checks_window_ = false;
    const bool is_known = out_.empty() && wire_->proxy_has_all() && !wire_->has_vanished() && !finished_;
    if (is_known && is_due() && returned_ == returned)
      book_.broken("the window of a connection is given back as soon as its bytes have arrived");
    check_window();
  });
}

void Http2Upstream::stop(Sending& sending) {
  RequestStream& stream = *sending.stream;
  const StreamPlan& plan = stream.plan;
  switch (plan.stop) {
    case Stop::reset_stream:
      queue(play::rst_stream(stream.id, static_cast<std::uint32_t>(plan.code)));
      if (!wire_->has_vanished()) stream.journey().losses.push_back({world_.now(), end_of(plan.code)});
      note_missing_end(stream);
      stream.was_reset = true;
      close_stream(sending);
      break;
    case Stop::finish_connection:
    case Stop::reset_connection:
      if (plan.cuts_frame) queue_cut_frame(sending);
      ends_ = plan.stop == Stop::reset_connection;
      break;
    case Stop::violate:
      violate();
      sending.silent = true;
      break;
    case Stop::fall_silent:
    case Stop::none: note_missing_end(stream); sending.silent = true;
  }
}

// Sends the beginning of the next frame. The frame is one that the proxy would accept.
void Http2Upstream::queue_cut_frame(const Sending& sending) {
  const RequestStream& stream = *sending.stream;
  if (sending.part >= stream.plan.parts.size()) return;
  const ResponsePart& part = stream.plan.parts[sending.part];
  std::string frame;
  if (part.kind == ResponsePart::Kind::body) {
    const std::int64_t room = std::max<std::int64_t>(0, std::min(sending.window, window_));
    frame = play::data(stream.id,
                       part.bytes.substr(0, std::min(most_frame_bytes, static_cast<std::size_t>(room))));
  } else {
    frame = block_frames(stream.id, part.bytes, part.ends, 0);
  }
  const std::uint64_t bytes = pieces_.between(1, frame.size() - 1);
  queue(frame.substr(0, bytes));
  constexpr std::uint64_t header_bytes = 9;
  if (part.kind == ResponsePart::Kind::body && bytes > header_bytes) spent_ += bytes - header_bytes;
}

void Http2Upstream::violate() {
  book_.tell("the upstream violates HTTP/2");
  violated_ = true;
  switch (pieces_.below(6)) {
    case 0: queue(play::data(99'999, "for no stream")); break;
    case 1: queue(play::window_update(0, 0)); break;
    case 2: queue(play::frame(FrameType::settings, 0, 1, "")); break;
    case 3: queue(play::frame(FrameType::push_promise, play::end_headers, 1, std::string(8, '\0'))); break;
    case 4: queue(play::frame(FrameType::ping, 0, 0, "short")); break;
    default: queue(play::window_update(0, 0x7fffffff)); break;
  }
  if (!wire_->has_vanished()) lose(StreamEnd::violation);
}

void Http2Upstream::note_missing_end(const RequestStream& stream) const {
  const auto place = sendings_.find(stream.id);
  if (place == sendings_.end() || !place->second.begun || !stream.plan.counted) return;
  // The last frame may be lost if it was sent at this moment.
  if (stream.response_ended && stream.response_ended_at < world_.now()) return;
  const Sending& sending = place->second;
  const auto& parts = stream.plan.parts;
  bool has_body = false;
  for (std::size_t i = sending.part; i < parts.size(); ++i) {
    const std::size_t sent = i == sending.part ? sending.offset : 0;
    has_body = has_body || parts[i].kind == ResponsePart::Kind::head ||
               (parts[i].kind == ResponsePart::Kind::body && sent < parts[i].bytes.size());
  }
  stream.account->ended_before_its_end = stream.account->ended_before_its_end || !has_body;
}

// Called when nothing more of the stream comes from the upstream, and the request was read or is not needed.
void Http2Upstream::close_stream(Sending& sending) {
  const RequestStream& stream = *sending.stream;
  if (plan_.goaway && stream.place == plan_.goaway->accepts) leave_if(Leaves::after_last, &stream);
  const ResponseFacts& facts = stream.plan;
  if (intake_.open_streams() > 0 || stream.was_reset) return quiet();
  if (facts.vanishes && out_.empty()) return wire_->vanish();
  std::optional<Duration> idles = facts.idles_for;
  if (!idles && faults_.plays(Fault::hidden_idle_limit, idle_limit_.has_value())) idles = idle_limit_;
  if (idles) {
    after(*idles, [this, last = intake_.last_id(), speaks = facts.speaks_idly] {
      if (last != intake_.last_id() || ends_ || finished_) return;
      if (speaks)
        queue(play::frame(FrameType::ping, 0, 0, "good bye") +
              play::frame(static_cast<FrameType>(77), 0, 0, "?"));
      ends_ = false;
    });
  }
  quiet();
}

// Ends a connection that goes away, if no stream is left on it.
void Http2Upstream::quiet() {
  if (!left_ || !plan_.goaway->closes_after || ends_) return;
  for (const auto& [id, stream] : intake_.streams()) {
    if (stream->is_open() && !stream->excluded) return;
  }
  after(*plan_.goaway->closes_after, [this] { ends_ = ends_.value_or(false); });
}

void Http2Upstream::leave_if(Leaves when, const RequestStream* stream) {
  if (!plan_.goaway || leaves_ || plan_.goaway->when != when || ends_ || finished_) return;
  const GoawayPlan& plan = *plan_.goaway;
  const unsigned place = stream == nullptr ? 0 : stream->place;
  const bool is_due =
      when == Leaves::at_once || (when == Leaves::at_last_head && place >= plan.accepts) ||
      ((when == Leaves::at_next_head || when == Leaves::at_next_request) && place > plan.accepts) ||
      when == Leaves::after_last || (when == Leaves::at_some_frame && frames_ >= plan.frames);
  if (is_due) go_away();
}

void Http2Upstream::go_away() {
  leaves_ = true;
  if (!plan_.goaway->announces) return send_last_goaway();
  book_.tell("the upstream announces that it goes away");
  queue(play::goaway(highest_id, 0));
  tells_leave_ = true;
  after(plan_.goaway->announced_for, [this] { send_last_goaway(); });
}

void Http2Upstream::send_last_goaway() {
  if (ends_ || finished_) return;
  left_ = true;
  const std::int32_t last = intake_.id_at(plan_.goaway->accepts);
  if (book_.telling())
    book_.tell("the upstream goes away, last stream " + std::to_string(last) + ", code " +
               std::to_string(static_cast<unsigned>(plan_.goaway->code)));
  queue(play::goaway(last, static_cast<std::uint32_t>(plan_.goaway->code)));
  tells_leave_ = true;
  intake_.exclude_above(last);
  if (plan_.goaway->code != policy::Http2Code::no_error) ends_ = pieces_.one_in(2);
  quiet();
}

void Http2Upstream::end_connection(bool by_reset) {
  if (book_.telling()) book_.tell(by_reset ? "the upstream resets" : "the upstream sends FIN");
  if (intake_.open_streams() > 1) book_.reached(Http2Mark::several_streams_lost);
  if (!wire_->has_vanished()) {
    lose(StreamEnd::connection);
    intake_.note_leave();
  }
  if (by_reset) {
    over_ = true;
    wire_->reset();
  } else {
    finished_ = true;
    wire_->finish();
  }
  if (on_death) on_death();
}

void Http2Upstream::lose(StreamEnd how) {
  for (const auto& [id, stream] : intake_.streams()) {
    stream->journey().losses.push_back({world_.now(), how});
    note_missing_end(*stream);
  }
}

}  // namespace reprise::simulation
