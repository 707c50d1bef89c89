#include "tests/soak/performance.hpp"

#include "tests/soak/content.hpp"
#include "tests/soak/response.hpp"

namespace reprise::soak {
namespace {

constexpr std::string_view attempt_field = "Reprise-Attempt";

/// What happens to the connection after the request.
enum class After : std::uint8_t { again, close };

// Returns the NUMBER in a request line `METHOD /folder/NUMBER HTTP/1.1`.
std::uint64_t request_number(const Head& head) {
  const std::string_view line = head.first_line();
  const std::string_view target = line.substr(0, line.rfind(' '));
  return play::number(target.substr(target.rfind('/') + 1)).value_or(0);
}

// Returns the FNV-1a hash of all lines, except those that differ between attempts: the attempt's number, and
// the range of a resume.
std::uint64_t hash_of(const Head& head) {
  std::uint64_t hash = 0xcbf29ce484222325;
  std::string_view rest = head.text();
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find("\r\n") + 2);
    rest.remove_prefix(line.size());
    if (line.starts_with(attempt_field) || line.starts_with("Range:") || line.starts_with("If-Range:"))
      continue;
    for (const char each : line) hash = (hash ^ static_cast<unsigned char>(each)) * 0x100000001b3;
  }
  return hash;
}

class Performance {
 public:
  Performance(Ledger& ledger, Wire& wire, Head head)
      : ledger_(ledger),
        wire_(wire),
        head_(std::move(head)),
        plan_(plan_of(ledger.mix(), request_number(head_))),
        attempt_(static_cast<unsigned>(head_.number(attempt_field))),
        fate_(fate_of(ledger.mix(), plan_, attempt_)),
        commit_(commit_byte(ledger.mix(), plan_, attempt_)),
        chance_(ledger.mix().seed, Purpose::performance, plan_.number, attempt_) {}

  Task<After> run();

 private:
  Task<bool> read_body();
  Task<After> response_early();
  Task<After> play();
  Task<After> refuse(int status, std::string_view fields);
  Task<After> succeed();
  void commit();

  Ledger& ledger_;
  Wire& wire_;
  const Head head_;
  const Plan plan_;
  const unsigned attempt_;
  const Fate fate_;
  const std::uint64_t commit_;
  Chance chance_;
  bool committed_ = false;
};

void Performance::commit() {
  if (committed_) return;
  committed_ = true;
  ledger_.took_effect(plan_);
}

// Reads and checks the request body. Returns false if the connection ended inside the body, or was reset
// there because the fate is `reset_in_request`.
Task<bool> Performance::read_body() {
  const std::uint64_t stop = fate_ == Fate::reset_in_request ? chance_.below(plan_.size) : plan_.size + 1;
  Body body(wire_, head_, HttpReader::Kind::request);
  std::uint64_t at = 0;
  if (commit_ == 0) commit();
  for (;;) {
    const std::string_view piece = co_await body.next();
    if (piece.empty()) break;
    if (!is_content(plan_.number, at, piece)) ledger_.wrong_bytes(plan_, "the request body at the upstream");
    at += piece.size();
    if (at >= commit_) commit();
    if (at > stop) {
      wire_.reset();
      co_return false;
    }
  }
  if (!body.whole()) co_return false;
  if (at != plan_.size) ledger_.wrong_bytes(plan_, "a request body that looked whole");
  co_return true;
}

Task<After> Performance::run() {
  if (head_.number(attempt_field) == 0 || plan_.number >= ledger_.size()) {
    ledger_.unjust(plan_, "a request that nobody sent: " + std::string(head_.first_line()));
    co_return After::close;
  }
  ledger_.saw(plan_, attempt_, hash_of(head_));
  ledger_.played(fate_);
  if (fate_ == Fate::early_response || fate_ == Fate::early_refusal) co_return co_await response_early();
  if (head_.field("Expect")) {
    // In one of four cases a 417 comes instead of the 100 (Continue), and the body is never sent.
    if (chance_.one_in(4)) {
      ledger_.answered_attempt(plan_, attempt_, 417);
      co_await wire_.write("HTTP/1.1 417 Unexpected\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
      wire_.finish();
      co_await wire_.drain();
      co_return After::close;
    }
    const bool encouraged = co_await wire_.write("HTTP/1.1 100 Continue\r\n\r\n");
    if (!encouraged) co_return After::close;
  }
  if (plan_.sends_body()) {
    const bool whole = co_await read_body();
    if (!whole) co_return After::close;
  } else if (plan_.method == "DELETE") {
    commit();
  }
  co_return co_await play();
}

// Responds before it reads the body. Then reads the body to its end, because a close with unread bytes would
// become a reset, which can destroy the response.
Task<After> Performance::response_early() {
  wire_.consume(0);
  if (fate_ == Fate::early_response) {
    commit();
    ledger_.answered_attempt(plan_, attempt_, 200);
    const std::string body = response_body(plan_);
    co_await wire_.write(
        "HTTP/1.1 200 Early\r\nConnection: close\r\nX-Number: " + std::to_string(plan_.number) +
        "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
  } else {
    co_await refuse(503, "Connection: close\r\n");
  }
  wire_.finish();
  co_await wire_.drain();
  co_return After::close;
}

Task<After> Performance::refuse(int status, std::string_view fields) {
  ledger_.answered_attempt(plan_, attempt_, status);
  const std::string body = plan_.method == "HEAD" ? "" : "refused " + std::to_string(plan_.number) + "\n";
  std::string text =
      "HTTP/1.1 " + std::to_string(status) + " Refused\r\nX-Number: " + std::to_string(plan_.number) + "\r\n";
  text.append(fields)
      .append("Content-Length: ")
      .append(std::to_string(body.size()))
      .append("\r\n\r\n")
      .append(body);
  const bool sent = co_await wire_.write(text);
  co_return sent ? After::again : After::close;
}

Task<After> Performance::play() {
  switch (fate_) {
    case Fate::unavailable: co_return co_await refuse(503, "");
    case Fate::unavailable_asks: co_return co_await refuse(503, "Retry-After: 1\r\n");
    case Fate::unavailable_later: co_return co_await refuse(503, "Retry-After: 3600\r\n");
    case Fate::too_many: co_return co_await refuse(429, "");
    case Fate::silence: co_await wire_.drain(); co_return After::close;
    case Fate::closed_before_head: co_return After::close;
    case Fate::lost: wire_.reset(); co_return After::close;
    default: co_return co_await succeed();
  }
}

Task<After> Performance::succeed() {
  const Played played = co_await play_response(wire_, plan_, fate_, head_, chance_);
  if (played.broken) {
    ledger_.broke_body();
  } else if (played.status > 0) {
    ledger_.answered_attempt(plan_, attempt_, played.status);
  }
  co_return played.reusable ? After::again : After::close;
}

}  // namespace

Task<void> perform(Ledger& ledger, tcp::socket socket) {
  Wire wire(std::move(socket));
  for (;;) {
    auto head = co_await wire.read_head();
    if (!head) co_return;
    Performance performance(ledger, wire, std::move(*head));
    const After after = co_await performance.run();
    if (after == After::close) co_return;
  }
}

Task<void> perform_tunnel(Ledger& ledger, tcp::socket socket) {
  Wire wire(std::move(socket));
  const auto line = co_await wire.read_line();
  if (!line) co_return;
  const Plan plan = plan_of(ledger.mix(), play::number(*line).value_or(0));
  for (std::uint64_t at = 0; at < plan.size;) {
    const std::string_view piece = co_await wire.take(plan.size - at);
    if (piece.empty()) co_return;
    if (!is_content(plan.number, at, piece)) ledger.wrong_bytes(plan, "a tunnel, at the upstream");
    const bool sent = co_await wire.write(piece);
    if (!sent) co_return;
    at += piece.size();
  }
  // Resets one in eight tunnels after the last byte, so that this byte may be lost.
  Chance chance(ledger.mix().seed, Purpose::tunnel, plan.number);
  if (chance.one_in(8)) wire.reset();
  co_await wire.drain();
}

}  // namespace reprise::soak
