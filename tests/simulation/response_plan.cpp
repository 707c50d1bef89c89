#include "tests/simulation/response_plan.hpp"

#include <algorithm>
#include <cstdio>

#include "tests/simulation/response_draw.hpp"

namespace reprise::simulation {
namespace {

/// Writes one response over HTTP/1, with all its drawn faults.
class Writer : private ResponseDraw {
 public:
  Writer(Seed seed, Faults& faults, const Account& account, unsigned arrival,
         const std::optional<RangeRequest>& range, bool reused)
      : ResponseDraw(seed, faults, account, arrival, range, reused),
        spelling_(seed, Purpose::responses, ~(account.plan.id * 64 + arrival)) {}

  ResponsePlan write() {
    draw_departures();
    if (resets_after_request_) ends_at_ = 0, plan_.after = After::reset;
    draw_status();
    draw_part();
    draw_framing();
    write_interim();
    write_head();
    write_body();
    draw_end();
    static_cast<ResponseFacts&>(plan_) = facts_;
    return plan_;
  }

 private:
  void draw_framing() {
    const std::uint64_t choice = chance_.below(10);
    chunked_ = has_body() && choice >= 5 && choice < 8;
    until_close_ = has_body() && choice >= 8;
    if (until_close_ && plan_.after == After::keep) plan_.after = After::finish;
  }

  void write_interim() {
    if (account_.plan.expects_continue && chance_.one_in(2))
      plan_.bytes.append("HTTP/1.1 100 Continue\r\n\r\n");
    if (plays(Fault::interim_flood, 24)) {
      for (int i = 0; i < 120; ++i) plan_.bytes.append("HTTP/1.1 103 Early Hints\r\n\r\n");
    } else if (chance_.one_in(10)) {
      plan_.bytes.append("HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n");
    }
    if (plays(Fault::interim_then_eof, 24)) {
      plan_.bytes.append("HTTP/1.1 103 Early Hints\r\n\r\n");
      end_after(plan_.bytes.size(), After::finish);
    }
  }

  void write_head() {
    head_at_ = plan_.bytes.size();
    std::string& out = plan_.bytes;
    if (plays(Fault::head_junk, 20))
      out.append(chance_.pick(
          {"HTTP/2.0 200\r\n\r\n", "\x16\x03\x01 junk\r\n\r\n", "HTTP/1.1 200 OK\r\nNo colon\r\n\r\n"}));
    out.append("HTTP/1.1 " + std::to_string(facts_.status) + " Told\r\n");
    out.append("X-Story: " + std::to_string(account_.plan.id) +
               "\r\nX-Version: " + std::to_string(facts_.version) + "\r\n");
    out.append("X-First: " + std::to_string(first_) + "\r\n");
    if (error_.empty() && (facts_.status == 200 || facts_.status == 206))
      out.append(version_line(version_field_, facts_.version));
    // Content-Range has no meaning in a 200.
    if (facts_.status == 200 && facts_.version % 4 == 3) out.append("Content-Range: bytes 7-8/9\r\n");
    if (facts_.status == 206) {
      const std::uint64_t last = end_ == 0 ? 0 : end_ - 1;
      out.append("Content-Range: bytes " + std::to_string(first_) + "-" + std::to_string(last) + "/" +
                 std::to_string(end_ + total_lie_) + "\r\n");
    }
    out.append(fields_);
    if (plays(Fault::head_too_large, 24)) out.append("X-Long: " + std::string(70'000, 'x') + "\r\n");
    const bool counted = has_body() && !chunked_ && !until_close_;
    short_ = faults_.plays(Fault::body_shorter_than_said, chance_.one_in(20) && counted);
    const std::uint64_t said = end_ - first_ - missing_ + (short_ ? 10 : 0);
    if (short_) plan_.after = After::finish;
    if (chunked_) out.append("Transfer-Encoding: chunked\r\n");
    if (!chunked_ && !until_close_ && facts_.status != 204 && facts_.status != 304)
      out.append("Content-Length: " + std::to_string(said) + "\r\n");
    if (plan_.after == After::finish || chance_.one_in(10)) {
      out.append("Connection: close\r\n");
      if (plan_.after == After::keep) plan_.after = After::finish;
    }
    out.append("\r\n");
    if (spelling_.one_in(4)) spell_as_old();
    body_at_ = out.size();
  }

  // Rewrites the head as old upstreams write it: line folding, HTTP/1.2, bare LF. None of this may reach the
  // client.
  void spell_as_old() {
    std::string head = plan_.bytes.substr(head_at_);
    plan_.bytes.resize(head_at_);
    const bool folds = spelling_.one_in(2);
    const std::size_t story = head.find("X-Story: ");
    if (folds && story != std::string::npos)
      head.insert(story + 8, spelling_.pick({"\r\n", "\n", " \r\n\t\n"}));
    if (spelling_.one_in(3) && head.starts_with("HTTP/1.1")) head[7] = '2';
    const std::uint64_t bare = spelling_.below(3);  // none, some or all lines end with a bare LF
    for (const char c : head) {
      const bool drops =
          c == '\n' && plan_.bytes.ends_with('\r') && (bare == 2 || (bare == 1 && spelling_.one_in(2)));
      if (drops) plan_.bytes.pop_back();
      plan_.bytes.push_back(c);
    }
  }

  void write_body() {
    if (!has_body()) return;
    end_ -= missing_;
    std::string& out = plan_.bytes;
    if (!chunked_) {
      out.append(text(first_, end_));
      message_end_ = out.size();
      if (!until_close_ && !short_ && plays(Fault::body_too_long, 16)) out.append("surplus");
      return;
    }
    const bool bad = plays(Fault::bad_chunk, 12);
    for (std::uint64_t place = first_; place < end_;) {
      const std::uint64_t count =
          std::min(end_ - place, chance_.between(1, 1 + account_.plan.response_bytes / 2));
      char size[20];
      out.append(size, static_cast<std::size_t>(std::snprintf(size, sizeof size, "%llx\r\n",
                                                              static_cast<unsigned long long>(count))));
      out.append(text(place, place + count)).append("\r\n");
      place += count;
    }
    if (bad) out.append("xyz\r\n");
    if (plays(Fault::no_last_chunk, 12)) {
      end_after(out.size(), After::finish);
      return;
    }
    out.append("0\r\n\r\n");
    message_end_ = out.size();
  }

  void end_after(std::size_t bytes, After how) {
    if (bytes >= ends_at_) return;
    ends_at_ = bytes;
    plan_.after = how;
  }

  void draw_end() {
    const std::size_t in_head = head_at_ + chance_.below(body_at_ - head_at_);
    const std::size_t in_body = body_at_ + chance_.below(std::max(message_end_, body_at_) - body_at_ + 1);
    const std::size_t silent_at = chance_.one_in(2) ? head_at_ : in_head;
    if (plays(Fault::head_silent, 16)) end_after(silent_at, After::fall_silent);
    if (plays(Fault::eof_before_head, 12)) {
      end_after(0, After::finish);
      facts_.early = facts_.unread = chance_.one_in(2);
    }
    if (plays(Fault::eof_inside_head, 20)) end_after(in_head, After::finish);
    if (plays(Fault::reset_inside_head, 20)) end_after(in_head, After::reset);
    if (in_body < message_end_) {
      // A FIN cannot truncate a body that is delimited by FIN.
      if (!until_close_ && plays(Fault::body_fin, 6)) end_after(in_body, After::finish);
      if (plays(Fault::body_reset, 6)) end_after(in_body, After::reset);
      if (plays(Fault::body_stalls, 16)) end_after(in_body, After::fall_silent);
    }
    if (ends_at_ < plan_.bytes.size()) plan_.bytes.resize(ends_at_);
    if (message_end_ > 0 && plan_.bytes.size() > message_end_)
      plan_.surplus = plan_.bytes.size() - message_end_;
    constexpr std::string_view second = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil";
    if (plan_.after == After::keep && plays(Fault::two_responses, 16)) {
      plan_.bytes.append(second);
      plan_.surplus += second.size();
    }
    const Duration rest = chance_.milliseconds(0, 3000);
    if (plan_.after == After::keep && plays(Fault::idle_close, 6)) facts_.idles_for = rest;
    if (plan_.after == After::keep && plays(Fault::idle_bytes, 8)) {
      facts_.idles_for = rest;
      facts_.speaks_idly = true;
    }
    facts_.vanishes = plan_.after == After::keep && plays(Fault::dead_at_rest, 4);
  }

  /// Has its own stream of random numbers, so that its draws do not change other draws of the story.
  Chance spelling_;
  ResponsePlan plan_;
  bool short_ = false;
  bool chunked_ = false;
  bool until_close_ = false;
  std::size_t head_at_ = 0;
  std::size_t body_at_ = 0;
  std::size_t message_end_ = 0;  ///< offset of the end of the message; 0: no body, or the end is not sent
  std::size_t ends_at_ = ~std::size_t{0};
};

}  // namespace

// Does not use the bytes of the seed's tape, because this function is called more than once per request.
VersionField version_field(Seed seed, std::uint64_t id) {
  return Chance(Seed(seed.number), Purpose::names, id)
      .pick({VersionField::entity_tag, VersionField::entity_tag, VersionField::generation,
             VersionField::version_id});
}

std::string version_line(VersionField field, unsigned version) {
  switch (field) {
    case VersionField::generation: return "x-goog-generation: " + std::to_string(version) + "\r\n";
    case VersionField::version_id: return "X-Amz-Version-Id: v." + std::to_string(version) + "\r\n";
    case VersionField::entity_tag: break;
  }
  return "ETag: \"v" + std::to_string(version) + "\"\r\n";
}

ResponsePlan plan_response(Seed seed, Faults& faults, const Account& account, unsigned arrival,
                           const std::optional<RangeRequest>& range, bool reused) {
  return Writer(seed, faults, account, arrival, range, reused).write();
}

}  // namespace reprise::simulation
