#include "tests/soak/client.hpp"

#include <algorithm>
#include <initializer_list>

#include "tests/soak/content.hpp"
#include "tests/soak/response.hpp"

namespace reprise::soak {
namespace {

constexpr std::uint64_t upload_piece = std::uint64_t{16} * 1024;

std::string request_head(const Errand& errand, const Plan& plan, std::string_view fields) {
  const std::string authority = "127.0.0.1:" + std::to_string(errand.port(plan.listener));
  std::string text(plan.method);
  if (plan.listener == Listener::tunnel) {
    text.assign("CONNECT ").append(authority);
  } else {
    text.append(" http://").append(authority).append(plan.path());
  }
  text.append(" HTTP/1.1\r\nHost: ").append(authority).append("\r\n");
  if (plan.keyed) text.append("Idempotency-Key: ").append(std::to_string(plan.number)).append("\r\n");
  if (plan.sends_body() && plan.listener != Listener::tunnel) {
    if (plan.chunked) {
      text.append("Transfer-Encoding: chunked\r\n");
    } else {
      text.append("Content-Length: ").append(std::to_string(plan.size)).append("\r\n");
    }
  }
  return text.append(fields).append("\r\n");
}

std::string in_hex(std::uint64_t value) {
  std::string digits;
  do digits.insert(digits.begin(), "0123456789abcdef"[value % 16]);
  while ((value /= 16) > 0);
  return digits;
}

class Client {
 public:
  Client(Errand& errand, Wire& wire, const Plan& plan)
      : ledger_(errand.ledger), errand_(errand), wire_(wire), plan_(plan) {}

  Task<Done> run();
  Task<Done> read_response();
  Task<Done> read_response_behind(Head head);
  std::string head() const { return request_head(errand_, plan_, ""); }

 private:
  Task<bool> send_body(std::uint64_t until);
  Task<Done> leave_early();
  Task<Done> leave_in_upload();
  Task<Done> expect();
  Task<Done> tunnel();
  Task<Done> ambiguous();
  Task<bool> upstream_has_seen();
  Task<std::uint64_t> read_body(Body& body, const Head& head);
  Done gone(const Head* head);
  Done cut(const Head* head);
  void judge(const Head& head, std::uint64_t bytes);
  bool is_just(int status, std::string_view reason, std::uint64_t attempts) const;
  bool met(std::initializer_list<Fate> fates) const;
  bool is_leaving_in_response() const { return plan_.behaviour == Behaviour::leaves_in_response; }

  Ledger& ledger_;
  Errand& errand_;
  Wire& wire_;
  const Plan plan_;
  std::string refusal_;  ///< response body, unless it is the body of a 200 to a GET
};

Task<bool> Client::send_body(std::uint64_t until) {
  for (std::uint64_t at = 0; at < until;) {
    const std::string_view piece = content(plan_.number, at, std::min(until - at, upload_piece));
    std::string framed;
    if (plan_.chunked) framed.append(in_hex(piece.size())).append("\r\n");
    framed.append(piece);
    if (plan_.chunked) framed.append("\r\n");
    const bool sent = co_await wire_.write(framed);
    if (!sent) co_return false;
    at += piece.size();
    if (plan_.behaviour == Behaviour::slow_upload) co_await pause(3);
  }
  if (until == plan_.size && plan_.chunked) co_return co_await wire_.write("0\r\n\r\n");
  co_return true;
}

Done Client::gone(const Head* head) {
  wire_.reset();
  const int status = head == nullptr ? 0 : head->status();
  ledger_.ends_gone(plan_, status,
                    head == nullptr ? 0 : static_cast<unsigned>(head->number("Reprise-Attempts")));
  return {};
}

Done Client::cut(const Head* head) {
  wire_.close();
  bool explained = ledger_.mix().lost_posts;
  for (unsigned attempt = 1; attempt <= ledger_[plan_.number].seen; ++attempt) {
    explained = explained || fate_of(ledger_.mix(), plan_, attempt) != Fate::fine;
  }
  if (head == nullptr) {
    ledger_.ends_cut(plan_, 0, 0, "");
  } else {
    ledger_.ends_cut(plan_, head->status(), static_cast<unsigned>(head->number("Reprise-Attempts")),
                     head->field("Reprise-Reason").value_or(""));
  }
  if (!explained) ledger_.unjust(plan_, "cut, and nothing had happened to it");
  return {};
}

Task<Done> Client::run() {
  switch (plan_.behaviour) {
    case Behaviour::leaves_early: co_return co_await leave_early();
    case Behaviour::leaves_in_upload: co_return co_await leave_in_upload();
    case Behaviour::expects: co_return co_await expect();
    case Behaviour::tunnels: co_return co_await tunnel();
    case Behaviour::ambiguous: co_return co_await ambiguous();
    default: break;
  }
  const bool head_sent = co_await wire_.write(head());
  // A response may come although the body could not be sent whole.
  if (head_sent && plan_.sends_body()) co_await send_body(plan_.size);
  if (plan_.behaviour == Behaviour::half_closes) wire_.finish();
  co_return co_await read_response();
}

Task<bool> Client::upstream_has_seen() {
  while (ledger_[plan_.number].seen == 0 && wire_.open()) {
    boost::system::error_code ignored;
    if (wire_.socket().available(ignored) > 0) co_return false;
    co_await pause(4);
  }
  co_return wire_.open();
}

Task<Done> Client::leave_early() {
  co_await wire_.write(head());
  if (plan_.sends_body()) co_await send_body(plan_.size);
  const bool seen = co_await upstream_has_seen();
  if (!seen) co_return co_await read_response();
  co_return gone(nullptr);
}

Task<Done> Client::leave_in_upload() {
  co_await wire_.write(head());
  co_await send_body(plan_.size / 2);
  const bool seen = co_await upstream_has_seen();
  if (!seen) co_return co_await read_response();
  co_return gone(nullptr);
}

Task<Done> Client::expect() {
  co_await wire_.write(request_head(errand_, plan_, "Expect: 100-continue\r\n"));
  for (;;) {
    auto head = co_await wire_.read_head();
    if (!head) co_return cut(nullptr);
    if (head->status() == 100) break;
    if (head->status() < 200) continue;
    Done done = co_await read_response_behind(std::move(*head));
    done.again = false;  // without the body, the connection cannot be reused
    co_return done;
  }
  co_await send_body(plan_.size);
  co_return co_await read_response();
}

Task<Done> Client::tunnel() {
  co_await wire_.write(request_head(errand_, plan_, ""));
  auto head = co_await wire_.read_head();
  if (!head) co_return cut(nullptr);
  if (head->status() != 200) co_return co_await read_response_behind(std::move(*head));
  ledger_.tunnelled();
  co_await wire_.write(std::to_string(plan_.number) + "\r\n");
  for (std::uint64_t at = 0; at < plan_.size;) {
    const std::string_view out = content(plan_.number, at, std::min(plan_.size - at, upload_piece));
    const bool sent = co_await wire_.write(out);
    if (!sent) break;
    std::uint64_t back = 0;
    while (back < out.size()) {
      const std::string_view piece = co_await wire_.take(out.size() - back);
      if (piece.empty()) break;
      if (!is_content(plan_.number, at + back, piece)) ledger_.wrong_bytes(plan_, "a tunnel, at the client");
      back += piece.size();
    }
    at += out.size();
    if (back < out.size()) break;
  }
  ledger_.ends_answered(plan_, 200, static_cast<unsigned>(head->number("Reprise-Attempts")), "");
  wire_.close();
  co_return Done{};
}

// Sends a request with contradictory framing. The proxy must reject the request with 400, before any attempt.
Task<Done> Client::ambiguous() {
  co_await wire_.write(request_head(errand_, plan_, "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n") +
                       "0\r\n\r\n");
  const auto head = co_await wire_.read_head();
  const int status = head ? head->status() : 0;
  if (status == 400) ledger_.rejected();
  ledger_.ends_answered(plan_, status, 0, "");
  if (status != 400) ledger_.unjust(plan_, "answered " + std::to_string(status));
  co_return Done{};
}

Task<Done> Client::read_response() {
  for (;;) {
    auto head = co_await wire_.read_head();
    if (!head) co_return cut(nullptr);
    if (head->status() >= 200) co_return co_await read_response_behind(std::move(*head));
  }
}

Task<std::uint64_t> Client::read_body(Body& body, const Head& head) {
  std::uint64_t at = 0;
  const bool slow = plan_.behaviour == Behaviour::slow_reader;
  const bool is_whole = head.status() == 200 && plan_.method == "GET";
  for (;;) {
    const std::string_view piece = co_await body.next(slow ? 4096 : 1 << 16);
    if (piece.empty()) break;
    if (!is_whole) {
      refusal_.append(piece);
    } else if (!is_content(plan_.number, at, piece)) {
      ledger_.wrong_bytes(plan_, "the response at the client");
    }
    at += piece.size();
    if (is_leaving_in_response() && is_whole) break;
    if (slow && at < 64 * 1024) co_await pause(3);
  }
  co_return at;
}

Task<Done> Client::read_response_behind(Head head) {
  Body body(wire_, head, kind_of_response(plan_.method));
  const std::uint64_t bytes = co_await read_body(body, head);
  const bool left = is_leaving_in_response() && head.status() == 200 && bytes > 0;
  if (left) co_return gone(&head);
  if (!body.whole()) co_return cut(&head);
  const auto attempts = static_cast<unsigned>(head.number("Reprise-Attempts"));
  ledger_.ends_answered(plan_, head.status(), attempts, head.field("Reprise-Reason").value_or(""));
  judge(head, bytes);
  const bool again = !head.has("Connection", "close") && plan_.behaviour != Behaviour::half_closes;
  co_return Done{again, head.status() == 200 && attempts == 1};
}

// Judges a response. A 200 must be whole and belong to this request; any other status needs a reason that the
// plan explains.
void Client::judge(const Head& head, std::uint64_t bytes) {
  const int status = head.status();
  const std::string_view reason = head.field("Reprise-Reason").value_or("");
  const std::uint64_t attempts = head.number("Reprise-Attempts");
  const bool from_upstream = head.field("X-Number").has_value();
  if (from_upstream && head.number("X-Number") != plan_.number)
    ledger_.wrong_bytes(plan_, "the response: it is of another request");
  if (status == 200) {
    const bool content_like = plan_.method == "GET";
    if (content_like && bytes != plan_.size) ledger_.wrong_bytes(plan_, "a response that looked whole");
    if (!content_like && plan_.method != "HEAD" && refusal_ != response_body(plan_))
      ledger_.wrong_bytes(plan_, "the response");
    const bool needs_effect = plan_.sends_body() || plan_.method == "DELETE";
    if (needs_effect && ledger_[plan_.number].effects == 0) ledger_.unjust(plan_, "200 without an effect");
    return;
  }
  if (status == 417) {
    if (plan_.behaviour != Behaviour::expects) ledger_.unjust(plan_, "417 to a request without Expect");
    return;
  }
  if (!is_just(status, reason, attempts))
    ledger_.unjust(plan_, "answered " + std::to_string(status) + " " + std::string(reason));
}

// Returns true if an attempt that the upstream saw had one of these fates.
bool Client::met(std::initializer_list<Fate> fates) const {
  for (unsigned attempt = 1; attempt <= ledger_[plan_.number].seen; ++attempt) {
    if (std::find(fates.begin(), fates.end(), fate_of(ledger_.mix(), plan_, attempt)) != fates.end())
      return true;
  }
  return false;
}

// Returns true if the plan explains why the request ended with this reason. Reasons that cannot occur in this
// load are never explained.
bool Client::is_just(int status, std::string_view reason, std::uint64_t attempts) const {
  if (reason == "not_idempotent") return plan_.once();
  if (reason == "not_replayable") return plan_.sends_body() && plan_.size > 0;
  if (reason == "attempts_spent") return attempts >= 4;
  if (reason == "budget_spent") return plan_.listener == Listener::flapping;
  if (reason == "client_gone") return plan_.behaviour == Behaviour::half_closes;
  if (reason == "upstream_said_later") return status == 503 && met({Fate::unavailable_later});
  if (reason == "deadline_too_near") return met({Fate::silence});
  if (reason != "not_retryable") return false;
  // The reason `not_retryable` is explained if the upstream sent no valid response, or sent none in time to a
  // request that cannot be repeated. On a route that holds responses, a bad chunk explains the reason too.
  if (plan_.held && met({Fate::bad_chunk})) return true;
  return met({Fate::junk_head, Fate::head_too_large, Fate::interim_flood, Fate::silence});
}

}  // namespace

Task<Done> carry_out(Errand& errand, Wire& wire, Plan plan) {
  Client client(errand, wire, plan);
  co_return co_await client.run();
}

Task<Done> carry_out_pipeline(Errand& errand, Wire& wire, std::span<const std::uint64_t> numbers,
                              std::vector<std::uint64_t>& unheard) {
  std::string together;
  for (const std::uint64_t number : numbers) {
    together.append(request_head(errand, plan_of(errand.ledger.mix(), number), ""));
  }
  co_await wire.write(together);
  Done done{true, false};
  for (const std::uint64_t number : numbers) {
    if (!done.again) {
      unheard.push_back(number);
      continue;
    }
    Client client(errand, wire, plan_of(errand.ledger.mix(), number));
    done = co_await client.read_response();
  }
  done.untouched = false;
  co_return done;
}

}  // namespace reprise::soak
