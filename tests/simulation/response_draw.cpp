#include "tests/simulation/response_draw.hpp"

#include <algorithm>

namespace reprise::simulation {

ResponseDraw::ResponseDraw(Seed seed, Faults& faults, const Account& account, unsigned arrival,
                           const std::optional<RangeRequest>& range, bool reused)
    : chance_(seed, Purpose::responses, account.plan.id * 64 + arrival),
      faults_(faults),
      account_(account),
      range_(range),
      reused_(reused),
      content_(account.plan.id, arrival),
      version_field_(version_field(seed, account.plan.id)) {
  facts_.version = arrival;
}

void ResponseDraw::draw_departures() {
  facts_.commit_at = chance_.between(1, account_.plan.body_bytes + 150);
  const std::uint64_t inside = chance_.between(1, account_.plan.body_bytes + 150);
  if (plays(Fault::reset_inside_request, 12)) facts_.resets = inside;
  if (plays(Fault::request_unread, 16)) facts_.unread = true;
  resets_after_request_ = plays(Fault::reset_after_request, 12);
  const Duration slow = chance_.milliseconds(1, 3000);
  if (plays(Fault::head_slow, 8)) facts_.wait = slow;
  if (chance_.one_in(4)) facts_.pause = chance_.milliseconds(1, 40);
  if (plays(Fault::early_response, 12)) facts_.early = true;
}

void ResponseDraw::draw_status() {
  const bool again = chance_.one_in(3);
  const int plain = chance_.pick({200, 200, 200, 200, 200, 200, 404, 204, 304, 400, 206});
  if (plain != 206 && !faults_.over() && !range_) facts_.status = plain;
  if (faults_.plays(Fault::status_503, again))
    facts_.status = chance_.pick({503, 503, 500, 429, 502, 504, 408});
  const bool later = chance_.one_in(4);
  if (faults_.plays(Fault::retry_after, later)) {
    facts_.status = chance_.pick({503, 429});
    fields_.append("Retry-After: " + std::to_string(chance_.below(4)) + "\r\n");
  }
  if (plays(Fault::says_no, 12)) {
    facts_.status = 503;
    fields_.append("X-Should-Retry: false\r\n");
  }
  draw_error();
  if (faults_.plays(Fault::misdirected, reused_ && chance_.one_in(6))) {
    facts_.status = 421;
    facts_.commits = false;
  }
}

// Draws an error that the status does not show.
void ResponseDraw::draw_error() {
  const auto how = chance_.pick({Tells::in_json, Tells::in_json, Tells::in_xml, Tells::in_head});
  const bool hides = (facts_.status == 200 || facts_.status == 400) && !range_;
  if (!hides) return;
  const Fault fault = how == Tells::in_head ? Fault::error_in_head : Fault::error_in_body;
  if (plays(fault, 3)) facts_.tells = how;
  if (facts_.tells == Tells::in_json)
    tell_in_body(error_json, "Content-Type: application/x-amz-json-1.1\r\nX-Body: json\r\n");
  if (facts_.tells == Tells::in_xml) tell_in_body(error_xml, "Content-Type: text/xml\r\nX-Body: xml\r\n");
  if (facts_.tells == Tells::in_head) fields_.append("X-Error: Throttled:now\r\n");
}
void ResponseDraw::tell_in_body(std::string_view body, std::string_view fields) {
  error_ = body;
  fields_.append(fields);
}

void ResponseDraw::draw_part() {
  if (!error_.empty()) {
    end_ = error_.size();
    return;
  }
  end_ = facts_.status == 200 ? account_.plan.response_bytes
                              : std::min<std::uint64_t>(account_.plan.response_bytes, 60);
  if (!range_ || facts_.status != 200) return;
  const bool same = range_->version > 0 && !chance_.one_in(6);
  if (!same && range_->conditional) return;  // changed: If-Range requires the whole new version
  if (same) facts_.version = range_->version;
  content_ = Content(account_.plan.id, facts_.version);
  if (chance_.one_in(6)) return;  // this server ignores ranges
  facts_.status = 206;
  first_ = std::min(range_->first, end_);
  const std::uint64_t lie = chance_.below(5);
  if (!faults_.plays(Fault::range_lies, !chance_.one_in(3))) return;
  if (lie == 0 && first_ > 0) {
    --first_;
  } else if (lie == 1) {
    first_ = std::min(first_ + 1, end_);
  } else if (lie == 2) {
    facts_.version += 1000;
    content_ = Content(account_.plan.id, facts_.version);
  } else if (lie == 3) {
    missing_ = (end_ - first_ + 1) / 2;
  } else {
    total_lie_ = 1;
  }
}

}  // namespace reprise::simulation
