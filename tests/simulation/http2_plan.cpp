#include "tests/simulation/http2_plan.hpp"

#include <algorithm>
#include <utility>

#include "tests/simulation/response_draw.hpp"
#include "tests/support/http2_frames.hpp"

namespace reprise::simulation {
namespace {

using play::FieldList;
using std::chrono::milliseconds;

// Appends lines such as `Name: value`, with lower-case names.
void append_lines(std::string_view lines, FieldList& fields) {
  while (!lines.empty()) {
    const std::size_t end = lines.find("\r\n");
    const std::size_t colon = lines.find(": ");
    std::string name(lines.substr(0, colon));
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char byte) { return static_cast<char>(std::tolower(byte)); });
    fields.emplace_back(std::move(name), lines.substr(colon + 2, end - colon - 2));
    lines.remove_prefix(end + 2);
  }
}

/// Writes one response over HTTP/2, with all its drawn faults.
class StreamWriter : private ResponseDraw {
 public:
  StreamWriter(Seed seed, Faults& faults, const Account& account, unsigned arrival,
               const std::optional<RangeRequest>& range, bool reused, bool trusts)
      : ResponseDraw(seed, faults, account, arrival, range, reused), trusts_(trusts) {}

  StreamPlan write() {
    draw_departures();
    draw_status();
    draw_part();
    write_interim();
    write_head();
    write_body();
    draw_stop();
    draw_rest();
    static_cast<ResponseFacts&>(plan_) = facts_;
    return plan_;
  }

 private:
  using Kind = ResponsePart::Kind;

  void add(Kind kind, std::string bytes, bool ends = false) {
    plan_.parts.push_back({kind, std::move(bytes), ends});
  }

  void write_interim() {
    if (account_.plan.expects_continue && chance_.one_in(2))
      add(Kind::interim, play::header_block({{":status", "100"}}));
    const std::string hints = play::header_block({{":status", "103"}, {"link", "</x>"}});
    if (plays(Fault::interim_flood, 24)) {
      for (int i = 0; i < 120; ++i) add(Kind::interim, hints);
    } else if (chance_.one_in(10)) {
      add(Kind::interim, hints);
    }
    if (plays(Fault::interim_then_eof, 24)) {
      add(Kind::interim, hints);
      stop_at(plan_.parts.size(), Stop::finish_connection);
    }
  }

  void write_head() {
    head_ = plan_.parts.size();
    FieldList fields{{":status", std::to_string(facts_.status)},
                     {"x-story", std::to_string(account_.plan.id)},
                     {"x-version", std::to_string(facts_.version)},
                     {"x-first", std::to_string(first_)}};
    if (error_.empty() && (facts_.status == 200 || facts_.status == 206))
      append_lines(version_line(version_field_, facts_.version), fields);
    if (facts_.status == 206) {
      const std::uint64_t last = end_ == 0 ? 0 : end_ - 1;
      fields.emplace_back("content-range", "bytes " + std::to_string(first_) + "-" + std::to_string(last) +
                                               "/" + std::to_string(end_ + total_lie_));
    }
    append_lines(fields_, fields);
    // libnghttp2 ends the connection if a single field is longer than 64 KiB.
    if (plays(Fault::head_too_large, 24)) {
      fields.emplace_back("x-long", std::string(40'000, 'x'));
      fields.emplace_back("x-longer", std::string(40'000, 'x'));
    }
    const bool counted = facts_.status != 204 && facts_.status != 304 && !chance_.one_in(3);
    const bool has_bytes = counted && has_body() && end_ > first_ + missing_;
    short_ = faults_.plays(Fault::body_shorter_than_said, chance_.one_in(20) && has_bytes);
    long_ = faults_.plays(Fault::body_too_long, chance_.one_in(16) && has_bytes && !short_);
    plan_.too_long = long_;
    plan_.counted = counted && has_body() && !short_;
    if (counted)
      fields.emplace_back("content-length", std::to_string(end_ - first_ - missing_ + (short_ ? 10 : 0)));
    if (plays(Fault::head_junk, 20)) spoil(fields);
    add(Kind::head, play::header_block(fields));
  }

  // Makes the head malformed (RFC 9113 8.2, 8.3).
  void spoil(FieldList& fields) {
    switch (chance_.below(5)) {
      case 0: fields.emplace_back("Upper", "case"); break;
      case 1: fields.emplace_back("connection", "close"); break;
      case 2: fields.erase(fields.begin()); break;
      case 3: fields.emplace_back(":status", "200"); break;
      default: fields.front().second = "101";
    }
  }

  void write_body() {
    if (!has_body()) {
      plan_.parts.back().ends = true;
      return;
    }
    end_ -= missing_;
    const std::uint64_t count = chance_.between(1, 3);
    for (std::uint64_t i = 0, place = first_; i < count && place < end_; ++i) {
      const std::uint64_t to = i + 1 == count ? end_ : chance_.between(place + 1, end_);
      add(Kind::body, text(place, to));
      place = to;
    }
    if (long_) add(Kind::body, "surplus");
    if (chance_.one_in(5)) {
      add(Kind::trailers, play::header_block({{"x-checked", "yes"}}), true);
    } else if (plan_.parts.back().kind == Kind::body && !chance_.one_in(3)) {
      plan_.parts.back().ends = true;
    } else {
      add(Kind::body, "", true);
    }
  }

  void stop_at(std::size_t parts, Stop stop, bool cuts = false) {
    if (parts >= plan_.stops_at) return;
    plan_.stops_at = parts;
    plan_.stop = stop;
    plan_.cuts_frame = cuts;
  }
  void reset_stream_at(std::size_t parts, policy::Http2Code code) {
    if (parts >= plan_.stops_at) return;
    stop_at(parts, Stop::reset_stream);
    plan_.code = code;
  }

  // The earliest end counts.
  void draw_stop() {
    const std::size_t all = plan_.parts.size();
    const std::size_t anywhere = chance_.between(0, all);
    const std::size_t before_head = chance_.one_in(2) ? 0 : head_;
    const std::size_t in_body = chance_.between(head_ + 1, std::max(head_ + 1, all - 1));
    if (plays(Fault::stream_reset, 5))
      reset_stream_at(anywhere,
                      chance_.pick({policy::Http2Code::cancel, policy::Http2Code::cancel,
                                    policy::Http2Code::no_error, policy::Http2Code::internal_error,
                                    policy::Http2Code::protocol_error, policy::Http2Code::stream_closed,
                                    policy::Http2Code::enhance_your_calm, unknown_code}));
    if (plays(Fault::violation, 20)) stop_at(anywhere, Stop::violate);
    if (resets_after_request_) stop_at(0, Stop::reset_connection);
    if (plays(Fault::head_silent, 16)) stop_at(before_head, Stop::fall_silent);
    if (plays(Fault::eof_before_head, 16)) stop_at(0, Stop::finish_connection);
    if (plays(Fault::eof_inside_head, 24)) stop_at(head_, Stop::finish_connection, true);
    if (plays(Fault::reset_inside_head, 24)) stop_at(head_, Stop::reset_connection, true);
    if (in_body < all) {
      const bool cuts = chance_.one_in(2);
      if (plays(Fault::body_fin, 10)) stop_at(in_body, Stop::finish_connection, cuts);
      if (plays(Fault::body_reset, 10)) stop_at(in_body, Stop::reset_connection, cuts);
      if (plays(Fault::body_stalls, 16)) stop_at(in_body, Stop::fall_silent);
    }
    if (plays(Fault::stream_refused, 5)) refuse(before_head, policy::Http2Code::refused_stream, trusts_);
    if (plays(Fault::needs_http1, 24)) refuse(0, policy::Http2Code::http_1_1_required, true);
  }

  // If a part of the response comes first, the upstream may have processed the request.
  void refuse(std::size_t parts, policy::Http2Code code, bool does_nothing) {
    if (parts >= plan_.stops_at) return;
    reset_stream_at(parts, code);
    if (parts == 0 && does_nothing) facts_.commits = false;
    facts_.early = facts_.early || chance_.one_in(2);
    facts_.unread = false;
  }

  void draw_rest() {
    const Duration rest = chance_.milliseconds(0, 3000);
    if (plan_.stop != Stop::none) return;
    if (plays(Fault::idle_close, 6)) facts_.idles_for = rest;
    if (plays(Fault::idle_bytes, 8)) {
      facts_.idles_for = rest;
      facts_.speaks_idly = true;
    }
    facts_.vanishes = plays(Fault::dead_at_rest, 4);
  }

  const bool trusts_;
  StreamPlan plan_;
  std::size_t head_ = 0;  ///< number of parts before the final head
  bool short_ = false;
  bool long_ = false;
};

GoawayPlan draw_goaway(Chance& chance) {
  GoawayPlan plan;
  plan.when =
      chance.pick({Leaves::at_once, Leaves::at_last_head, Leaves::at_next_head, Leaves::at_next_request,
                   Leaves::after_last, Leaves::after_last, Leaves::at_some_frame});
  plan.accepts = static_cast<unsigned>(plan.when == Leaves::at_once ? 0 : chance.between(1, 3));
  if (plan.when == Leaves::at_next_head || plan.when == Leaves::at_next_request)
    plan.accepts = static_cast<unsigned>(chance.below(3));
  plan.frames = static_cast<unsigned>(chance.between(1, 8));
  plan.announced_for = chance.milliseconds(0, 200);
  const Duration later =
      chance.pick({Duration::zero(), Duration(milliseconds(50)), Duration(std::chrono::seconds(5))});
  if (!chance.one_in(3)) plan.closes_after = later;
  return plan;
}

}  // namespace

ConnectionPlan plan_connection(Seed seed, Faults& faults, std::uint64_t number) {
  Chance chance(seed, Purpose::dials, 800'000 + number);
  ConnectionPlan plan;
  const Duration late = chance.milliseconds(1, 3000);
  plan.is_not_http2 = faults.plays(Fault::not_http2, chance.one_in(16));
  plan.never_ready = faults.plays(Fault::settings_missing, chance.one_in(12));
  if (faults.plays(Fault::settings_late, chance.one_in(8))) plan.ready_after = late;
  plan.window = chance.pick<std::uint32_t>({65'535, 65'535, 70'000, 3000, 100, 1, 0});
  // A request without a deadline waits for a stream as long as the upstream allows none. So only the first
  // connections of a story allow none.
  const std::uint32_t least = number <= 3 ? 0 : 1;
  const auto most = chance.pick<std::uint32_t>({least, 1, 1, 3, 3});
  if (faults.plays(Fault::streams_limited, chance.one_in(2))) plan.streams = most;
  const auto changed = chance.pick<std::uint32_t>({least, 1, 2, 100});
  plan.later = chance.milliseconds(0, 400);
  if (faults.plays(Fault::limit_changes, chance.one_in(4))) plan.later_streams = changed;
  GoawayPlan goaway = draw_goaway(chance);
  if (faults.plays(Fault::goaway, chance.one_in(4))) plan.goaway = goaway;
  const bool announces = chance.one_in(2);
  const auto code = chance.pick({policy::Http2Code::enhance_your_calm, policy::Http2Code::internal_error,
                                 policy::Http2Code::protocol_error, policy::Http2Code::http_1_1_required});
  if (plan.goaway && faults.plays(Fault::goaway_announced, announces)) plan.goaway->announces = true;
  if (plan.goaway && faults.plays(Fault::goaway_with_error, chance.one_in(4))) plan.goaway->code = code;
  return plan;
}

StreamPlan plan_stream(Seed seed, Faults& faults, const Account& account, unsigned arrival,
                       const std::optional<RangeRequest>& range, bool reused, bool trusts) {
  return StreamWriter(seed, faults, account, arrival, range, reused, trusts).write();
}

std::string block_frames(std::int32_t stream, std::string_view block, bool ends, std::size_t splits) {
  const std::size_t most = splits == 0 ? most_frame_bytes : std::min(splits, most_frame_bytes);
  std::string frames;
  auto type = play::FrameType::headers;
  unsigned flags = ends ? play::end_stream : 0;
  for (;;) {
    const std::string_view piece = block.substr(0, most);
    block.remove_prefix(piece.size());
    if (block.empty()) flags |= play::end_headers;
    frames += play::frame(type, flags, stream, piece);
    if (block.empty()) return frames;
    type = play::FrameType::continuation;
    flags = 0;
  }
}

}  // namespace reprise::simulation
