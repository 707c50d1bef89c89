#include "tests/soak/response.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace reprise::soak {
namespace {

constexpr std::uint64_t piece_bytes = std::uint64_t{60} * 1024;

std::string etag_of(const Plan& plan) {
  return '"' + std::to_string(plan.number) + '-' + std::to_string(plan.size) + '"';
}

std::string hex(std::uint64_t value) {
  std::array<char, 16> digits{};
  return {digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), value, 16).ptr};
}

bool is_until_close(Fate fate) {
  return fate == Fate::close_delimited || fate == Fate::close_delimited_reset;
}
bool is_chunk_fault(Fate fate) { return fate >= Fate::chunk_cut && fate <= Fate::bad_chunk; }

class Response {
 public:
  Response(Wire& wire, const Plan& plan, Fate fate, const Head& request, Chance& chance);

  Task<Played> play();

 private:
  std::string head() const;
  std::string_view body(std::uint64_t at) const;
  Task<Played> play_head_fault();
  Task<Played> play_surplus(Played played);
  Task<bool> send(std::string_view bytes);
  Task<bool> send_body(std::uint64_t until);
  Task<void> break_body(std::uint64_t at);

  Wire& wire_;
  const Plan plan_;
  const Fate fate_;
  Chance& chance_;
  std::string text_;          ///< body of the response to any method except GET and HEAD
  std::uint64_t start_ = 0;   ///< first byte of a resumed response
  std::uint64_t length_ = 0;  ///< length of the whole representation
  bool chunked_ = false;
};

Response::Response(Wire& wire, const Plan& plan, Fate fate, const Head& request, Chance& chance)
    : wire_(wire), plan_(plan), fate_(fate), chance_(chance) {
  const bool has_content = plan.method == "GET" || plan.method == "HEAD";
  if (!has_content) text_ = response_body(plan);
  length_ = has_content ? plan.size : text_.size();
  chunked_ = is_chunk_fault(fate) || (plan.chunked && plan.method == "GET" && fate < Fate::body_fin);
  const auto range = request.field("Range");
  const auto validator = request.field("If-Range");
  const bool same = plan.validated && (!validator || *validator == etag_of(plan));
  if (range && same && range->starts_with("bytes=")) {
    std::from_chars(range->data() + 6, range->data() + range->size(), start_);
    start_ = std::min(start_, length_);
  }
}

std::string Response::head() const {
  std::string text = start_ > 0 ? "HTTP/1.1 206 Part\r\n" : "HTTP/1.1 200 Whole\r\n";
  text.append("X-Number: ").append(std::to_string(plan_.number)).append("\r\n");
  if (plan_.validated) text.append("ETag: ").append(etag_of(plan_)).append("\r\n");
  if (start_ > 0) {
    text.append("Content-Range: bytes ")
        .append(std::to_string(start_))
        .append("-")
        .append(std::to_string(length_ - 1));
    text.append("/").append(std::to_string(length_)).append("\r\n");
  }
  if (chunked_) {
    text.append("Transfer-Encoding: chunked\r\n");
  } else if (!is_until_close(fate_)) {
    text.append("Content-Length: ").append(std::to_string(length_ - start_)).append("\r\n");
  }
  return text.append("\r\n");
}

std::string_view Response::body(std::uint64_t at) const {
  if (!text_.empty()) return std::string_view(text_).substr(at);
  return content(plan_.number, at, std::min(length_ - at, piece_bytes));
}

// Sends the bytes; a dribbled response begins with pieces of a few bytes.
Task<bool> Response::send(std::string_view bytes) {
  if (fate_ == Fate::dribble) {
    for (int pieces = 0; pieces < 20 && !bytes.empty(); ++pieces) {
      const std::string_view piece = bytes.substr(0, 1 + chance_.below(7));
      const bool sent = co_await wire_.write(piece);
      if (!sent) co_return false;
      bytes.remove_prefix(piece.size());
      co_await pause(1);
    }
  }
  co_return co_await wire_.write(bytes);
}

Task<bool> Response::send_body(std::uint64_t until) {
  for (std::uint64_t at = start_; at < until;) {
    const std::string_view piece = body(at).substr(0, until - at);
    if (chunked_) {
      const bool announced = co_await wire_.write(hex(piece.size()) + "\r\n");
      if (!announced) co_return false;
    }
    const bool sent = co_await send(piece);
    if (!sent) co_return false;
    if (chunked_) {
      const bool ended = co_await wire_.write("\r\n");
      if (!ended) co_return false;
    }
    at += piece.size();
  }
  co_return true;
}

Task<void> Response::break_body(std::uint64_t at) {
  if (fate_ == Fate::chunk_cut && at < length_) {
    const std::string_view rest = body(at);
    co_await wire_.write(hex(rest.size()) + "\r\n");
    co_await wire_.write(rest.substr(0, rest.size() / 2));
  }
  if (fate_ == Fate::bad_chunk) co_await wire_.write("zz\r\n");
  if (fate_ == Fate::body_reset || fate_ == Fate::close_delimited_reset) wire_.reset();
}

Task<Played> Response::play_head_fault() {
  const std::string whole = head();
  switch (fate_) {
    case Fate::eof_in_head:
    case Fate::reset_in_head:
      co_await wire_.write(std::string_view(whole).substr(0, 1 + chance_.below(whole.size() - 1)));
      if (fate_ == Fate::reset_in_head) wire_.reset();
      break;
    case Fate::junk_head: co_await wire_.write("220 this is no web server\r\n\r\n"); break;
    case Fate::head_too_large:
      co_await wire_.write("HTTP/1.1 200 Large\r\nX-Long: " + std::string(std::size_t{80} * 1024, 'x') +
                           "\r\n\r\n");
      break;
    case Fate::interim_then_eof:
      co_await wire_.write("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n");
      break;
    default:
      for (int i = 0; i < 40; ++i) {
        const bool sent = co_await wire_.write("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n");
        if (!sent) break;
      }
      break;
  }
  co_return Played{};
}

Task<Played> Response::play_surplus(Played played) {
  std::string text = head();
  if (plan_.method != "HEAD") text.append(body(start_));
  text.append(fate_ == Fate::extra_bytes ? "and some more"
                                         : "HTTP/1.1 200 Again\r\nContent-Length: 5\r\n\r\nagain");
  played.reusable = co_await wire_.write(text);
  co_return played;
}

Task<Played> Response::play() {
  const bool head_fault = (fate_ >= Fate::eof_in_head && fate_ <= Fate::head_too_large) ||
                          fate_ == Fate::interim_then_eof || fate_ == Fate::interim_flood;
  if (head_fault) co_return co_await play_head_fault();
  Played played{start_ > 0 ? 206 : 200, false, true};
  const bool bodiless = plan_.method == "HEAD";
  const bool breaks =
      !bodiless && start_ < length_ &&
      ((fate_ >= Fate::body_fin && fate_ <= Fate::bad_chunk) || fate_ == Fate::close_delimited_reset);
  const std::uint64_t until = breaks ? start_ + chance_.below(length_ - start_) : length_;
  if (fate_ == Fate::extra_bytes || fate_ == Fate::two_responses) co_return co_await play_surplus(played);
  bool sent = co_await send(head());
  if (sent && !bodiless) sent = co_await send_body(until);
  if (!sent) {
    played.reusable = false;
  } else if (breaks) {
    co_await break_body(until);
    played.broken = true;
    played.reusable = false;
  } else {
    if (chunked_ && !bodiless) co_await wire_.write("0\r\n\r\n");
    if (fate_ == Fate::extra_bytes) co_await wire_.write("and some more");
    if (fate_ == Fate::two_responses)
      co_await wire_.write("HTTP/1.1 200 Again\r\nContent-Length: 5\r\n\r\nagain");
    played.reusable = fate_ != Fate::leaves_after && !is_until_close(fate_);
  }
  co_return played;
}

}  // namespace

std::string response_body(const Plan& plan) {
  return "taken " + std::to_string(plan.number) + " " + std::to_string(plan.size) + "\n";
}

Task<Played> play_response(Wire& wire, Plan plan, Fate fate, const Head& request, Chance& chance) {
  Response response(wire, plan, fate, request, chance);
  co_return co_await response.play();
}

}  // namespace reprise::soak
