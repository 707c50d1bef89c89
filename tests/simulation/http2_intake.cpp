#include "tests/simulation/http2_intake.hpp"

#include <algorithm>

#include "tests/simulation/content.hpp"
#include "tests/simulation/request_head.hpp"
#include "tests/support/http_reader.hpp"

namespace reprise::simulation {

using play::FieldList;
using play::Frame;
using play::FrameType;

namespace {

constexpr std::size_t frame_header_bytes = 9;

std::string value_of(const FieldList& fields, std::string_view name) {
  const auto place =
      std::find_if(fields.begin(), fields.end(), [&](const auto& pair) { return pair.first == name; });
  return place == fields.end() ? std::string() : place->second;
}

// Returns the head in the form of HTTP/1, with the names as they were sent.
std::string text_of(const FieldList& fields) {
  std::string head = value_of(fields, ":method") + " " + value_of(fields, ":path") + " HTTP/2\r\n";
  for (const auto& [name, value] : fields) {
    if (!name.starts_with(':')) head.append(name).append(": ").append(value).append("\r\n");
  }
  return head + "\r\n";
}

bool is_connection_field(std::string_view name) {
  return name == "connection" || name == "transfer-encoding" || name == "keep-alive" || name == "upgrade" ||
         name == "proxy-connection" || name == "host" || name == "te";
}

}  // namespace

Http2Intake::Http2Intake(Seed seed, World& world, Faults& faults, Book& book, const Wire& wire, Canary canary,
                         const Http2Terms& terms, const ConnectionPlan& plan)
    : seed_(seed),
      world_(world),
      faults_(faults),
      book_(book),
      wire_(wire),
      canary_(canary),
      terms_(terms),
      plan_(plan),
      limit_(plan.streams) {}

RequestStream* Http2Intake::find(std::int32_t id) const {
  const auto place = streams_.find(id);
  return place == streams_.end() ? nullptr : place->second.get();
}

std::size_t Http2Intake::open_streams() const {
  return static_cast<std::size_t>(std::count_if(streams_.begin(), streams_.end(),
                                                [](const auto& each) { return each.second->is_open(); }));
}

std::int32_t Http2Intake::id_at(unsigned place) const {
  std::int32_t id = 0;
  for (const auto& [number, stream] : streams_) {
    if (stream->place <= place) id = number;
  }
  return id;
}

void Http2Intake::grant(std::int32_t stream, std::uint32_t bytes) {
  if (stream == 0) {
    window_ += bytes;
  } else if (RequestStream* const one = find(stream)) {
    one->window += bytes;
  }
}

void Http2Intake::exclude_above(std::int32_t last) {
  excluded_above_ = last;
  for (const auto& [id, stream] : streams_) {
    if (id <= last || !stream->is_open()) continue;
    stream->excluded = true;
    if (!wire_.has_vanished()) stream->journey().losses.push_back({world_.now(), StreamEnd::excluded});
  }
}

bool Http2Intake::next(std::uint64_t bytes, WrittenFrame& frame) {
  if (frames_.empty() || frames_.front().end > bytes) return false;
  frame = std::move(frames_.front());
  frames_.pop_front();
  return true;
}

void Http2Intake::take(std::string_view bytes, bool arrive) {
  taken_ += bytes.size();
  reader_.feed(bytes);
  for (Frame frame; reader_.next(frame);) judge(frame, arrive);
  if (arrive) count_rest();
}

// An upstream may process the part of a DATA frame that has arrived.
void Http2Intake::count_rest() {
  const std::string_view rest = reader_.rest();
  if (rest.size() <= frame_header_bytes || rest.starts_with("PRI") || rest[3] != 0) return;
  RequestStream* const stream = find(static_cast<std::int32_t>(play::read_big_endian(rest.substr(5, 4))));
  if (stream == nullptr) return;
  const std::uint64_t before = stream->accepted;
  stream->accepted += rest.size() - frame_header_bytes;
  commit(*stream);
  stream->accepted = before;
}

void Http2Intake::judge(const Frame& frame, bool arrive) {
  switch (frame.type) {
    case FrameType::headers:
      block_ = frame;
      if ((frame.flags & play::end_headers) != 0) begin(block_, arrive);
      break;
    case FrameType::continuation:
      block_.payload += frame.payload;
      if ((frame.flags & play::end_headers) != 0) begin(block_, arrive);
      break;
    case FrameType::data: take_data(frame); break;
    case FrameType::settings: take_settings(frame); break;
    case FrameType::rst_stream:
      if (RequestStream* const stream = find(frame.stream)) {
        stream->cancelled = true;
      } else {
        book_.broken("a reset is of a stream that has begun");
      }
      break;
    case FrameType::ping:
      if ((frame.flags & play::ack) == 0) book_.broken("an upstream is not pinged");
      break;
    case FrameType::goaway:
    case FrameType::window_update: break;
    default: book_.broken("an upstream gets only the frames that a request needs");
  }
  if (!arrive) return;
  const bool is_data = frame.type == FrameType::data;
  frames_.push_back({frame.type, frame.flags, frame.stream, is_data ? std::string() : frame.payload,
                     frame.payload.size(), taken_ - reader_.rest().size()});
}

void Http2Intake::take_settings(const Frame& frame) {
  if ((frame.flags & play::ack) == 0) return;
  ++acknowledged_;
  if (limit_pending_ && acknowledged_ >= 2) limit_ = plan_.later_streams;
}

// Records which connection carries the request (rows F10, M53, M55).
bool Http2Intake::carry(Account& account, bool arrive) {
  const RequestPlan& request = account.plan;
  const bool has_choice = (terms_.connections >= 32 && terms_.has_room) || canary_ == Canary::used_before;
  const bool is_own = std::any_of(streams_.begin(), streams_.end(), [&](const auto& each) {
    return each.second->account->plan.client == request.client;
  });
  const bool is_used = !streams_.empty() || canary_ == Canary::used_before;
  if (request.takes_no_risk && has_choice && is_used && !is_own)
    book_.broken("what cannot be repeated begins on a connection that has carried nothing");
  const void* const here = canary_ == Canary::one_connection ? static_cast<const void*>(&book_) : this;
  Ride ride{.at = world_.now(), .connection = here, .is_stream = true, .losses = {}};
  if (!account.rides.empty()) {
    for (const StreamLoss& loss : account.rides.back().losses) {
      if (loss.how == StreamEnd::refused) book_.reached(Http2Mark::sent_again_after_refusal);
      if (loss.how == StreamEnd::excluded) book_.reached(Http2Mark::sent_again_after_goaway);
    }
  }
  account.rides.push_back(std::move(ride));
  if (!arrive && !streams_.empty()) account.in_vain.push_back({world_.now(), wire_.last_heard()});
  return arrive;
}

void Http2Intake::judge_head(Account& account, const FieldList& fields, const std::string& text) {
  const RequestPlan& request = account.plan;
  const bool tells_target = value_of(fields, ":method") == request.method &&
                            value_of(fields, ":scheme") == (wire_.sealed() ? "https" : "http") &&
                            value_of(fields, ":path") == "/s/" + std::to_string(request.id) + request.query &&
                            value_of(fields, ":authority").starts_with(request.host);
  if (!tells_target) book_.broken("a request over HTTP/2 names its target in pseudo-fields");
  for (const auto& [name, value] : fields) {
    if (is_connection_field(name)) book_.broken("no field of a connection is sent over HTTP/2");
  }
  if (account.plan.terminated && !wire_.sealed()) book_.broken("what came over TLS goes out over TLS");
  std::string head = without(without(without(text, "reprise-attempt"), "range"), "if-range");
  if (account.http2_head.empty()) {
    account.http2_head = std::move(head);
  } else if (account.http2_head != head) {
    book_.broken("the request is the same on every attempt");
  }
}

void Http2Intake::begin(const Frame& frame, bool arrive) {
  const FieldList fields = reader_.fields(frame);
  const std::string head = text_of(fields);
  if (frame.stream <= last_id_ || frame.stream % 2 == 0) return book_.broken("a stream carries one request");
  const auto id = story_number(head);
  Account* const account = id ? book_.find(*id) : nullptr;
  if (account == nullptr) return book_.broken("an upstream is only asked what a client has asked");
  if (left_at_ && world_.now() > *left_at_)
    book_.broken("no stream begins on a connection that goes away or is closed");
  if (limit_ && open_streams() >= *limit_) book_.broken("no stream exceeds MAX_CONCURRENT_STREAMS");
  book_.reached(Http2Mark::stream);
  if (open_streams() > 0) book_.reached(Http2Mark::stream_beside_another);
  if (limit_ && open_streams() + 1 == *limit_) book_.reached(Http2Mark::stream_limit_met);
  const bool reused = !streams_.empty();
  carry(*account, arrive);
  last_id_ = frame.stream;
  auto made = std::make_unique<RequestStream>();
  RequestStream& stream = *made;
  stream.id = frame.stream;
  stream.account = account;
  stream.ride = account->rides.size() - 1;
  stream.place = static_cast<unsigned>(streams_.size()) + 1;
  stream.window = plan_.window;
  stream.request_ended = (frame.flags & play::end_stream) != 0;
  streams_.emplace(stream.id, std::move(made));
  judge_head(*account, fields, head);
  if (!arrive) {
    book_.tell("request " + std::to_string(*id) + " is swallowed");
    return;
  }
  ++account->arrivals;
  auto range = range_of(head);
  const bool hides = range && canary_ == Canary::unnamed_change;
  if (range && !range->conditional) range->version = version_given_last(*account);
  if (hides) range = RangeRequest{range->first, 0, false};
  stream.plan =
      plan_stream(seed_, faults_, *account, account->arrivals, range, reused, terms_.trusts_refusals);
  stream.excluded = (plan_.goaway && stream.place > plan_.goaway->accepts) ||
                    (excluded_above_ && stream.id > *excluded_above_);
  if (excluded_above_ && stream.excluded)
    stream.journey().losses.push_back({world_.now(), StreamEnd::excluded});
  stream.accepted = frame.payload.size() + frame_header_bytes;
  if (book_.telling())
    book_.tell("request " + std::to_string(*id) + " arrives, " + std::to_string(account->arrivals) +
               ", stream " + std::to_string(stream.id) + (stream.excluded ? ", is not processed" : ""));
  if (stream.request_ended && account->plan.body_bytes > 0)
    book_.broken("the upstream never takes a part of a body for the whole");
  commit(stream);
}

void Http2Intake::take_data(const Frame& frame) {
  RequestStream* const stream = find(frame.stream);
  if (stream == nullptr || stream->request_ended || stream->cancelled)
    return book_.broken("a stream carries one request");
  const auto bytes = static_cast<std::int64_t>(frame.payload.size());
  stream->window -= bytes;
  window_ -= bytes;
  if (bytes > 0 && (stream->window < 0 || window_ < 0)) book_.broken("no window of an upstream is exceeded");
  if (!Content(stream->account->plan.id, 0).holds(stream->body_bytes, frame.payload))
    book_.broken("every attempt carries the body of its request");
  stream->body_bytes += frame.payload.size();
  stream->accepted += frame.payload.size() + frame_header_bytes;
  stream->request_ended = (frame.flags & play::end_stream) != 0;
  if (stream->request_ended && stream->body_bytes != stream->account->plan.body_bytes)
    book_.broken("the upstream never takes a part of a body for the whole");
  commit(*stream);
}

// Counts an effect when its byte is written, because every byte that the kernel took may have reached the
// upstream.
void Http2Intake::commit(RequestStream& stream) {
  const bool processes = (stream.plan.commits && !stream.excluded) || canary_ == Canary::processed_anyway;
  if (stream.committed || !processes || stream.accepted < stream.plan.commit_at) return;
  stream.committed = true;
  stream.account->effects += canary_ == Canary::repeated_effect ? 2 : 1;
  if (!stream.account->plan.idempotent && stream.account->effects > 1)
    book_.broken("a request that is not marked idempotent has at most one effect");
}

}  // namespace reprise::simulation
