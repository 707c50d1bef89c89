#include "tests/simulation/client.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "tests/simulation/content.hpp"
#include "tests/simulation/response_plan.hpp"

namespace reprise::simulation {

Client::Client(World& world, Book& book, ClientPlan plan, std::shared_ptr<Wire> wire, Chance pieces)
    : world_(world), book_(book), plan_(std::move(plan)), wire_(std::move(wire)), pieces_(std::move(pieces)) {
  wire_->attach(this);
}

Client::~Client() { wire_->attach(nullptr); }

void Client::start() {
  ask();
  while (plan_.pipelines && asked_ < plan_.requests.size()) ask();
  reader_.begin(kind_of_response());
  pump();
}

void Client::ask() {
  const RequestPlan& request = plan_.requests[asked_++];
  book_.open(request).may_miss_response = plan_.pipelines || plan_.stops_reading_at || plan_.stops_writing_at;
  if (book_.telling())
    book_.tell("client asks " + request.method + " " + std::to_string(request.id) + " of " + request.host +
               ", " + std::to_string(request.body_bytes) + " bytes, response " +
               std::to_string(request.response_bytes) +
               (request.idempotent ? ", idempotent" : ", not idempotent"));
  out_.append(write_request(request));
  ends_.push_back(sent_ + out_.size());
}

std::string Client::write_head(const RequestPlan& request) const {
  const std::string origin = request.tunnelled ? "" : "http://" + request.host;
  std::string head = request.method + " " + origin + "/s/" + std::to_string(request.id) + request.query +
                     (request.speaks_1_0 ? " HTTP/1.0\r\n" : " HTTP/1.1\r\n");
  head.append("Host: ").append(request.host).append("\r\n");
  if (request.retries_itself) head.append("X-Stainless-Retry-Count: 1\r\n");
  if (request.marked) head.append("Idempotency-Key: \"k" + std::to_string(request.id) + "\"\r\n");
  if (request.expects_continue) head.append("Expect: 100-continue\r\n");
  if (request.framing == BodyFraming::counted)
    head.append("Content-Length: " + std::to_string(request.body_bytes) + "\r\n");
  if (request.framing == BodyFraming::chunked) head.append("Transfer-Encoding: chunked\r\n");
  return head.append("X-Filler: " + std::string(request.id % 40, 'f') + "\r\n\r\n");
}

std::string Client::write_request(const RequestPlan& request) {
  std::string bytes = write_head(request);
  const Content content(request.id, 0);
  if (request.framing == BodyFraming::counted) bytes.append(content.text(0, request.body_bytes));
  if (request.framing != BodyFraming::chunked) return bytes;
  for (std::uint64_t place = 0; place < request.body_bytes;) {
    const std::uint64_t count =
        std::min(request.body_bytes - place, pieces_.between(1, 1 + request.body_bytes / 2));
    char size[20];
    bytes.append(size, static_cast<std::size_t>(std::snprintf(size, sizeof size, "%llx\r\n",
                                                              static_cast<unsigned long long>(count))));
    bytes.append(content.text(place, place + count)).append("\r\n");
    place += count;
  }
  return bytes.append("0\r\n\r\n");
}

void Client::look() {
  if (over_) return;
  if (wire_->was_reset()) return connection_ended(true);
  read();
  if (over_) return;
  if (wire_->proxy_finished() && wire_->received().empty() && !stalls_reading_)
    return connection_ended(false);
  pump();
}

void Client::pause(bool& flag) {
  flag = true;
  stalled_ = true;
  world_.after(plan_.stall, [this, &flag, alive = std::weak_ptr<char>(alive_)] {
    if (alive.expired()) return;
    flag = false;
    look();
  });
}

// Records that the client now sends its next `bytes` bytes. Sets the send time of each request to which any
// of these bytes belong.
void Client::note_sent(std::size_t bytes) {
  for (std::size_t i = answered_; i < ends_.size() && bytes > 0; ++i) {
    if (ends_[i] <= sent_) continue;
    if (Account* asked = book_.find(plan_.requests[i].id); asked != nullptr) asked->sent = world_.now();
    if (ends_[i] >= sent_ + bytes) break;
  }
}

void Client::pump() {
  while (!over_ && !stalls_writing_ && !out_.empty()) {
    std::size_t most = pieces_.one_in(2) ? out_.size() : pieces_.between(1, out_.size());
    if (plan_.stops_writing_at && sent_ + most > *plan_.stops_writing_at) {
      most = *plan_.stops_writing_at > sent_ ? *plan_.stops_writing_at - sent_ : 0;
      if (most == 0) {
        plan_.stops_writing_at.reset();
        return pause(stalls_writing_);
      }
    }
    const std::size_t taken = wire_->send(std::string_view(out_).substr(0, most));
    out_.erase(0, taken);
    note_sent(taken);
    sent_ += taken;
    if (plan_.resets_after && sent_ + received_ >= *plan_.resets_after) return leave();
    if (taken == 0) break;
  }
  for (std::size_t i = answered_; i < ends_.size(); ++i) {
    if (Account* asked = book_.find(plan_.requests[i].id); asked != nullptr && sent_ >= ends_[i])
      asked->sent_whole = true;
  }
  if (!over_ && !finished_ && plan_.finishes_after && asked_ == plan_.requests.size() && out_.empty() &&
      sent_ + received_ >= *plan_.finishes_after) {
    finished_ = true;
    book_.tell("client sends FIN");
    for (const RequestPlan& request : plan_.requests) book_.find(request.id)->finished = world_.now();
    wire_->finish();
  }
}

void Client::read() {
  while (!over_ && !stalls_reading_ && !wire_->received().empty()) {
    if (plan_.stops_reading_at && received_ >= *plan_.stops_reading_at) {
      plan_.stops_reading_at.reset();
      return pause(stalls_reading_);
    }
    if (answered_ == plan_.requests.size()) return book_.broken("nothing follows the last response");
    const std::size_t used =
        reader_.feed(wire_->received(), [this](std::string_view bytes) { take_body(bytes); });
    if (reader_.head_is_whole()) judge_head();
    if (reader_.broken()) return book_.broken("a client never gets a broken message");
    received_ += used;
    wire_->consume(used);
    if (reader_.complete()) {
      received_before_ = received_;
      response_came();
    }
    if (!over_ && plan_.resets_after && sent_ + received_ >= *plan_.resets_after) return leave();
  }
}

void Client::judge_head() {
  if (head_judged_ || reader_.status() < 200) return;
  head_judged_ = true;
  const std::string& head = reader_.head();
  const auto id = field(head, "X-Story");
  own_ = !id;
  const auto body = field(head, "X-Body");
  error_ = !body ? "" : (*body == "xml" ? error_xml : error_json);
  if (field(head, "X-Error")) account().got_error_in_head = true;
  forged_ = id && *id == "0";
  if (own_ || forged_) return;
  if (number(*id) != plan_.requests[answered_].id) book_.broken("no response goes to another request");
  version_ = static_cast<unsigned>(number(field(head, "X-Version").value_or("0")).value_or(0));
  first_ = number(field(head, "X-First").value_or("0")).value_or(0);
  const auto& served = account().served;
  if (std::none_of(served.begin(), served.end(), [&](const Served& one) {
        return one.version == version_ && one.status == reader_.status();
      }))
    book_.broken("a response is one that an upstream gave");
  if (reader_.status() == 206) book_.broken("a client that asked for no range gets no part");
}

void Client::take_body(std::string_view bytes) {
  judge_head();
  if (!error_.empty()) {
    if (error_.substr(std::min<std::size_t>(body_bytes_, error_.size()), bytes.size()) != bytes)
      book_.broken("a response's bytes are those of one attempt");
  } else if (!own_ && !forged_ &&
             !Content(plan_.requests[answered_].id, version_).holds(first_ + body_bytes_, bytes))
    book_.broken("a response's bytes are those of one attempt, or of one chain of resumes (request " +
                 std::to_string(plan_.requests[answered_].id) + ")");
  body_bytes_ += bytes.size();
}

std::uint64_t Client::expected_bytes() const {
  const RequestPlan& request = plan_.requests[answered_];
  const int status = reader_.status();
  if (request.method == "HEAD" || status == 204 || status == 304) return 0;
  if (!error_.empty()) return error_.size();
  return status == 200 ? request.response_bytes : std::min<std::uint64_t>(request.response_bytes, 60);
}

HttpReader::Kind Client::kind_of_response() const {
  const bool to_head = answered_ < plan_.requests.size() && plan_.requests[answered_].method == "HEAD";
  return to_head ? HttpReader::Kind::head : HttpReader::Kind::response;
}

void Client::judge_whole() {
  if (own_) {
    const bool is_ours = reader_.status() >= 400 && field(reader_.head(), "Proxy-Status").has_value();
    if (!is_ours) book_.broken("a response is an upstream's, or says that it is the proxy's");
  } else if (forged_) {
    if (body_bytes_ != 6 && plan_.requests[answered_].method != "HEAD")
      book_.broken("what looks complete is complete");
  } else if (body_bytes_ != expected_bytes()) {
    book_.broken("what looks complete is complete");
  }
}

void Client::response_came() {
  const int status = reader_.status();
  if (status >= 200) judge_whole();
  if (book_.telling() && status >= 200)
    book_.tell("client has " + std::to_string(status) + " for " +
               std::to_string(plan_.requests[answered_].id) +
               (own_ ? ", the proxy's own" : ", version " + std::to_string(version_)));
  const bool closes = field(reader_.head(), "Connection") == "close" || plan_.requests[answered_].speaks_1_0;
  if (status >= 200) {
    account().status = account().status == 0 ? status : account().status;
    end_request(own_ ? ClientEnd::own_response : ClientEnd::whole);
    ++answered_;
  }
  if (over_) return;
  body_bytes_ = 0;
  head_judged_ = false;
  reader_.begin(kind_of_response());
  if (status < 200) return judge_interim(status);
  interims_ = 0;
  continued_ = false;
  if (answered_ == plan_.requests.size() || closes) {
    over_ = true;
    for (std::size_t i = answered_; i < asked_; ++i) book_.find(plan_.requests[i].id)->end = ClientEnd::left;
    go();
    return;
  }
  if (!plan_.pipelines) {
    ask();
    pump();
  }
}

void Client::judge_interim(int status) {
  constexpr unsigned most_interims = 100;  // maximum for each attempt (row B10)
  if (++interims_ > most_interims * account().arrivals) book_.broken("interim responses are bounded");
  if (status != 100) return;
  if (continued_ || !plan_.requests[answered_].expects_continue)
    book_.broken("a client gets one 100, and only if it expects one");
  continued_ = true;
}

void Client::end_request(ClientEnd end) {
  account().end = end;
  account().ended = world_.now();
}

// Judges later, because it may not be known yet what the upstream did at this moment.
void Client::judge_silent_end(std::uint64_t last) {
  world_.after(std::chrono::milliseconds(1), [&book = book_, last] {
    if (!book.find(last)->ended_before_its_end)
      book.broken("a connection that ends behind a response was said to end");
  });
}

void Client::connection_ended(bool by_reset) {
  over_ = true;
  if (!by_reset && reader_.state() == HttpReader::State::until_close) {
    reader_.finish();
    over_ = false;
    judge_whole();
    end_request(own_ ? ClientEnd::own_response : ClientEnd::whole);
    over_ = true;
    ++answered_;
  } else if (answered_ < asked_) {
    book_.tell(by_reset ? "client sees a reset" : "client sees the end");
    // The client sent its next request at once, so no timeout of the proxy can have ended the connection. A
    // connection that ended with a reset is not judged, because a reset discards unread bytes.
    if (!by_reset && answered_ > 0 && received_ == received_before_ && !stalled_ && !book_.stopping())
      judge_silent_end(plan_.requests[answered_ - 1].id);
    end_request(ClientEnd::cut);
    ++answered_;
  }
  for (std::size_t i = answered_; i < asked_; ++i) book_.find(plan_.requests[i].id)->end = ClientEnd::cut;
  go();
}

void Client::go() {
  if (!finished_) wire_->finish();
  finished_ = true;
}

void Client::leave() {
  book_.tell("client resets");
  over_ = true;
  for (std::size_t i = 0; i < asked_; ++i) book_.find(plan_.requests[i].id)->reset = world_.now();
  for (std::size_t i = answered_; i < asked_; ++i) book_.find(plan_.requests[i].id)->end = ClientEnd::left;
  wire_->reset();
}

}  // namespace reprise::simulation
