// Finished requests with fixed times, as input for tests of the log and the metrics.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "proxy/telemetry/log/exchange_record.hpp"

namespace reprise::telemetry {

using std::chrono::milliseconds;

/// 2026-01-02T10:03:12.345Z
inline constexpr std::int64_t story_wall = 1767348192345000000;

/// A request, with the ledger and the strings to which its record refers.
class ScriptedRequest {
 public:
  ScriptedRequest(std::string name, std::string method, std::string path)
      : name_(std::move(name)), method_(std::move(method)), path_(std::move(path)) {
    record_.port = 80;
    record_.started = policy::Instant(std::chrono::seconds(1000));
    record_.ended_wall = story_wall;
  }

  /// Adds an attempt. The wait before it is the delay of the previous verdict.
  ScriptedRequest& attempt(const policy::Outcome& outcome, int took_ms, policy::Verdict verdict,
                           bool reused = false) {
    policy::LedgerEntry entry;
    entry.attempt.number = static_cast<unsigned>(ledger_.size()) + 1;
    entry.attempt.reused = reused;
    if (!ledger_.empty()) entry.attempt.wait = ledger_.back().verdict.delay;
    entry.outcome = outcome;
    entry.verdict = verdict;
    entry.started = record_.ended() + entry.attempt.wait;
    entry.ended = entry.started + milliseconds(took_ms);
    record_.took = entry.ended - record_.started;
    ledger_.add(entry);
    ledger_.reason = verdict.reason;
    return *this;
  }
  /// Marks the last attempt as one over HTTP/2. `queued`: how long it waited for a stream.
  ScriptedRequest& over_http2(milliseconds queued = {}) {
    ledger_.back().http2 = true;
    ledger_.back().queued = queued;
    return *this;
  }
  ScriptedRequest& ends(Ending ending, int status) {
    record_.ending = ending;
    record_.status = status;
    return *this;
  }
  ScriptedRequest& host(std::string host, std::uint16_t port) {
    host_ = std::move(host);
    record_.port = port;
    return *this;
  }
  ScriptedRequest& ids(std::string request_id, std::string trace_id) {
    request_id_ = std::move(request_id);
    trace_id_ = std::move(trace_id);
    return *this;
  }
  ScriptedRequest& bytes(std::uint64_t request, std::uint64_t response) {
    record_.request_bytes = request;
    record_.response_bytes = response;
    return *this;
  }
  ScriptedRequest& route(std::uint32_t index) {
    record_.route = index;
    return *this;
  }
  ScriptedRequest& took(milliseconds span) {
    record_.took = span;
    return *this;
  }
  ScriptedRequest& ambiguous() {
    ledger_.ambiguous = true;
    return *this;
  }
  ScriptedRequest& tunnel() {
    record_.tunnel = true;
    return *this;
  }
  ScriptedRequest& carried(Carried what) {
    record_.carried = what;
    return *this;
  }
  /// Makes the request a gRPC call. `status`: the status that the client got.
  ScriptedRequest& call(std::optional<policy::GrpcStatus> status) {
    record_.is_call = true;
    record_.grpc = status;
    return *this;
  }
  ScriptedRequest& own_response() {
    record_.own_response = true;
    return *this;
  }

  const std::string& name() const { return name_; }
  ExchangeRecord record() const {
    ExchangeRecord out = record_;
    out.method = method_;
    out.host = host_;
    out.path = path_;
    out.request_id = request_id_;
    out.trace_id = trace_id_;
    out.ledger = &ledger_;
    return out;
  }

 private:
  std::string name_;
  std::string method_;
  std::string path_;
  std::string host_ = "api.internal";
  std::string request_id_;
  std::string trace_id_;
  ExchangeRecord record_;
  policy::Ledger ledger_;
};

inline policy::Outcome status(int code) { return policy::Responded{code, {}}; }
inline policy::Outcome status(int code, policy::Duration retry_after) {
  return policy::Responded{code, {retry_after, {}, false}};
}
/// Returns the response of a call that ended with that status before its first message.
inline policy::Outcome call_status(policy::GrpcStatus status) {
  policy::Responded responded{200, {}};
  responded.grpc = status;
  return responded;
}
inline policy::Outcome failure(policy::Stage stage, policy::Cause cause) {
  return policy::Failed{stage, cause};
}
/// Returns the failure of a stream that was reset with that code.
inline policy::Outcome stream_reset(std::string_view code) {
  policy::Failed failed{policy::Stage::await_head, policy::Cause::stream_reset};
  failed.why = code;
  return failed;
}
/// Returns the failure of a stream that a GOAWAY excludes.
inline policy::Outcome excluded_by_goaway() {
  policy::Failed failed{policy::Stage::await_head, policy::Cause::goaway};
  failed.unprocessed = true;
  return failed;
}
inline policy::Verdict retry_in(milliseconds delay, policy::Reason reason) { return {true, delay, reason}; }
inline policy::Verdict stop(policy::Reason reason) { return {false, {}, reason}; }

// Route indexes: 0 is `api`, 1 is `orders`.

inline void add_short_stories(std::vector<ScriptedRequest>& all) {
  using policy::Cause;
  using policy::Reason;
  using policy::Stage;
  all.push_back(ScriptedRequest("plain", "GET", "/v1/x")
                    .attempt(status(200), 12, stop(Reason::success), true)
                    .ends(Ending::complete, 200)
                    .bytes(0, 512));
  all.push_back(ScriptedRequest("recovered", "GET", "/v1/x")
                    .attempt(status(503), 40, retry_in(milliseconds(120), Reason::retryable_status))
                    .attempt(failure(Stage::await_head, Cause::reset), 12,
                             retry_in(milliseconds(340), Reason::retryable_failure), true)
                    .attempt(status(200), 300, stop(Reason::success))
                    .ends(Ending::complete, 200)
                    .bytes(0, 512)
                    .ids("req-17", "4bf92f3577b34da6a3ce929d0e0e4736"));
  all.push_back(ScriptedRequest("refused_post", "POST", "/v1/orders")
                    .route(1)
                    .host("orders.internal", 8080)
                    .attempt(status(503), 5, stop(Reason::not_idempotent))
                    .ends(Ending::complete, 503)
                    .bytes(1024, 20));
  all.push_back(ScriptedRequest("connect_failure", "GET", "/v1/x")
                    .attempt(failure(Stage::connect, Cause::refused), 0, stop(Reason::retries_off))
                    .ends(Ending::complete, 502)
                    .own_response());
  all.push_back(ScriptedRequest("cut", "GET", "/v1/big")
                    .attempt(failure(Stage::body, Cause::truncated), 2100, stop(Reason::response_started))
                    .ends(Ending::cut, 200)
                    .bytes(0, 100000));
  all.push_back(ScriptedRequest("client_gone", "GET", "/v1/slow")
                    .attempt(status(503), 30, stop(Reason::client_gone))
                    .ends(Ending::client_gone, 0));
}

inline void add_limited_stories(std::vector<ScriptedRequest>& all) {
  using policy::Cause;
  using policy::Reason;
  using policy::Stage;
  all.push_back(ScriptedRequest("ambiguous", "DELETE", "/v1/orders/17")
                    .route(1)
                    .host("orders.internal", 8080)
                    .attempt(failure(Stage::await_head, Cause::attempt_timeout), 1000,
                             retry_in(milliseconds(80), Reason::retryable_failure))
                    .attempt(status(404), 9, stop(Reason::not_retryable))
                    .ends(Ending::complete, 404)
                    .ambiguous());
  all.push_back(ScriptedRequest("exhausted", "GET", "/v1/x")
                    .attempt(status(503), 10, retry_in(milliseconds(200), Reason::retryable_status))
                    .attempt(status(503, std::chrono::seconds(1)), 10,
                             retry_in(milliseconds(1000), Reason::retryable_status))
                    .attempt(status(429, std::chrono::seconds(2)), 10,
                             retry_in(milliseconds(2000), Reason::retryable_status))
                    .attempt(status(503), 10, stop(Reason::attempts_spent))
                    .ends(Ending::complete, 503)
                    .bytes(0, 20)
                    .ids("req-18", ""));
  all.push_back(ScriptedRequest("out_of_time", "PUT", "/v1/orders/18")
                    .route(1)
                    .host("orders.internal", 8080)
                    .attempt(failure(Stage::await_head, Cause::attempt_timeout), 59000,
                             {false, milliseconds(4000), Reason::deadline_too_near})
                    .ends(Ending::complete, 504)
                    .bytes(64, 0)
                    .own_response());
  all.push_back(
      ScriptedRequest("stale", "GET", "/v1/x")
          .attempt(failure(Stage::await_head, Cause::closed), 1, {true, {}, Reason::stale_connection}, true)
          .attempt(status(200), 4, stop(Reason::success))
          .ends(Ending::complete, 200)
          .bytes(0, 3));
}

inline void add_http2_stories(std::vector<ScriptedRequest>& all) {
  using policy::Reason;
  all.push_back(ScriptedRequest("http2", "POST", "/v1/orders")
                    .route(1)
                    .host("orders.internal", 8080)
                    .attempt(excluded_by_goaway(), 2, {true, {}, Reason::stale_connection}, true)
                    .over_http2()
                    .attempt(stream_reset("cancel"), 7, stop(Reason::not_idempotent))
                    .over_http2(milliseconds(30))
                    .ends(Ending::complete, 502)
                    .bytes(64, 0)
                    .own_response());
}

inline void add_grpc_stories(std::vector<ScriptedRequest>& all) {
  using policy::GrpcStatus;
  using policy::Reason;
  const auto call = [](const std::string& name) {
    return ScriptedRequest(name, "POST", "/shop.v1.Orders/Get").route(1).host("orders.internal", 8080);
  };
  all.push_back(call("call_recovered")
                    .attempt(call_status(GrpcStatus::unavailable), 4,
                             retry_in(milliseconds(60), Reason::retryable_status))
                    .attempt(status(200), 9, stop(Reason::success))
                    .ends(Ending::complete, 200)
                    .bytes(12, 40)
                    .call(GrpcStatus::ok));
  all.push_back(call("call_exhausted")
                    .attempt(call_status(GrpcStatus::unavailable), 4,
                             retry_in(milliseconds(60), Reason::retryable_status))
                    .attempt(call_status(GrpcStatus::unavailable), 5, stop(Reason::attempts_spent))
                    .ends(Ending::complete, 200)
                    .bytes(12, 0)
                    .call(GrpcStatus::unavailable));
  all.push_back(call("call_not_found")
                    .attempt(call_status(GrpcStatus::not_found), 3, stop(Reason::not_retryable))
                    .ends(Ending::complete, 200)
                    .bytes(12, 0)
                    .call(GrpcStatus::not_found));
  all.push_back(call("call_failed_late")
                    .attempt(status(200), 8, stop(Reason::success))
                    .ends(Ending::complete, 200)
                    .bytes(12, 900)
                    .call(GrpcStatus::internal));
  all.push_back(call("call_cut")
                    .attempt(status(200), 8, stop(Reason::response_started))
                    .ends(Ending::cut, 200)
                    .bytes(12, 900)
                    .call(std::nullopt));
}

inline void add_strange_stories(std::vector<ScriptedRequest>& all) {
  using policy::Reason;
  all.push_back(ScriptedRequest("tunnel", "CONNECT", "")
                    .host("db.internal", 443)
                    .took(milliseconds(75000))
                    .ends(Ending::complete, 200)
                    .bytes(5000, 7000)
                    .tunnel()
                    .carried(Carried::tls));
  all.push_back(ScriptedRequest("hostile", "GE\"T\x1b[31m",
                                "/a\r\nHTTP/1.1 200\x7f\"\\\xff\xc3(/\xe2\x80\xae/\xc2\x9b/\xc3\xa9/" +
                                    std::string(1000, 'p'))
                    .host("evil\nhost\t" + std::string(1000000, 'h'), 80)
                    .attempt(status(200), 3, stop(Reason::success))
                    .ends(Ending::complete, 200)
                    .ids("id\"\n\x01" + std::string("\0x", 2), "\x1b]0;owned\x07"));
  ScriptedRequest patient("patient", "GET", "/v1/patient");
  for (int i = 0; i < 39; ++i) {
    patient.attempt(status(503), 1, retry_in(milliseconds(1), Reason::retryable_status));
  }
  all.push_back(patient.attempt(status(200), 1, stop(Reason::success)).ends(Ending::complete, 200));
}

/// Returns one request of each kind that the log distinguishes.
inline std::vector<ScriptedRequest> all_stories() {
  std::vector<ScriptedRequest> all;
  add_short_stories(all);
  add_limited_stories(all);
  add_http2_stories(all);
  add_grpc_stories(all);
  add_strange_stories(all);
  return all;
}

}  // namespace reprise::telemetry
