// The configured policy of one route: when to retry a request, how long to wait, when to stop. Values only.
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/policy/decision/hedge.hpp"
#include "proxy/policy/decision/hold.hpp"
#include "proxy/policy/decision/outcome.hpp"
#include "proxy/policy/decision/tls_policy.hpp"
#include "proxy/policy/match/condition.hpp"
#include "proxy/policy/match/status_range.hpp"
#include "proxy/policy/pacing/backoff.hpp"
#include "proxy/policy/pacing/budget.hpp"
#include "proxy/policy/pacing/circuit.hpp"
#include "proxy/policy/pacing/host_pause.hpp"

namespace reprise::policy {

/// `active` retries; `observe` makes all decisions but sends no retry; `off` does not touch the request.
enum class Mode : std::uint8_t { active, observe, off };
/// The response to send if the deadline ends the retries after the upstream has responded.
enum class OutOfTime : std::uint8_t { last, gateway_timeout };
/// Whether to retry if the client, or another reprise between this proxy and the upstream, retries too.
enum class Nested : std::uint8_t { allow, refuse };

/// The `retry.on` key: the statuses and kinds of failure that are worth another attempt.
struct RetryOn {
  std::bitset<highest_status + 1> statuses;
  std::bitset<grpc_status_count> calls;  ///< statuses of gRPC calls
  /// Failed lookup, refused connection, unreachable host, connect timeout; HTTP/2: a stream that the upstream
  /// did not process.
  bool connect = false;
  bool tls = false;        ///< the TLS handshake failed
  bool reset = false;      ///< connection closed or reset before the response head was complete
  bool timeout = false;    ///< attempt_timeout or response_timeout exceeded
  bool truncated = false;  ///< the body ended early while `hold` held all of it back

  bool lists(const Outcome&) const;
  /// Returns the default: 429, 408, 500, 502, 503, 504, connect, tls, reset, timeout, grpc-unavailable.
  static RetryOn defaults();
  bool operator==(const RetryOn&) const = default;
};

/// A kind of failure that `retry.on` may list.
struct FailureWord {
  std::string_view text;  ///< the word in `retry.on`
  bool RetryOn::*listed;
  Failed example;             ///< a failure that no other word of `retry.on` covers
  std::string_view sentence;  ///< the failure as a clause, printed by `reprise explain --failure`
};

/// Every word of `retry.on`, in the order of the members of RetryOn.
inline constexpr auto failure_words = std::to_array<FailureWord>({
    {"connect", &RetryOn::connect, {Stage::connect, Cause::refused}, "the upstream refuses the connection"},
    {"tls", &RetryOn::tls, {Stage::tls, Cause::closed}, "the TLS handshake fails"},
    {"reset",
     &RetryOn::reset,
     {Stage::await_head, Cause::reset},
     "the connection is reset before the response head"},
    {"timeout", &RetryOn::timeout, {Stage::await_head, Cause::attempt_timeout}, "no response arrives"},
    {"truncated",
     &RetryOn::truncated,
     {Stage::body, Cause::truncated},
     "the response is 200 and its body ends early"},
});

/// Returns how many members of RetryOn are kinds of failure. Does not compile if a member is missing in this
/// function.
constexpr std::size_t count_failure_kinds() {
  const RetryOn none;
  const auto& [statuses, calls, connect, tls, reset, timeout, truncated] = none;
  return std::array{connect, tls, reset, timeout, truncated}.size();
}
static_assert(failure_words.size() == count_failure_kinds(), "each kind of failure has a word");

/// The `retry.refused` key: statuses with which this upstream reports that it did nothing, so that a request
/// with any method may be sent again.
struct Refused {
  std::bitset<highest_status + 1> statuses;

  bool lists(int status) const;
  bool operator==(const Refused&) const = default;
};

struct RetryAfter {
  bool honour = true;
  Duration maximum = std::chrono::seconds(60);
};

struct RetryPolicy {
  RetryOn on = RetryOn::defaults();
  Refused refused;
  std::optional<unsigned> max_attempts = 6;  ///< includes the first attempt; absent: unlimited
  /// Maximum time from the request head on; absent: no deadline.
  std::optional<Duration> deadline = std::chrono::seconds(60);
  std::optional<Duration> attempt_timeout;  ///< maximum time to the response head; absent: no limit
  OutOfTime out_of_time = OutOfTime::last;
  Backoff backoff;
  RetryAfter retry_after;
  Nested nested = Nested::allow;
  /// Applies if the response shows that another reprise has already retried the request (row D20).
  Nested inner = Nested::refuse;
};

/// The `resume` key: whether and how a download that breaks after its head was delivered is resumed.
struct ResumePolicy {
  bool enabled = true;
  unsigned max_attempts = 10;                 ///< maximum number of consecutive resumes that bring no byte
  Duration stall = std::chrono::seconds(30);  ///< a body without a byte for this time counts as broken
  /// Names of response fields that identify one version of the content: in lower case, without duplicates, at
  /// most `most_validators` (resume.hpp). `etag` means a strong entity tag, used with If-Range.
  std::vector<std::string> validators{"etag", "x-goog-generation", "x-amz-version-id"};
};

/// Returns the validators as text: "a strong ETag, x-goog-generation or x-amz-version-id".
std::string either_of_validators(const ResumePolicy&);

/// What the client gets if a lost attempt may have taken effect and so may have changed a later response (for
/// example, a 404 to a repeated DELETE). `failure`: the failure of the lost attempt. `response`: the later
/// response, with `Reprise-Ambiguous`. `automatic`: the failure if the method alone makes the request
/// idempotent, otherwise the response.
enum class Ambiguous : std::uint8_t { automatic, failure, response };
/// How the client learns that a request broke without a response byte, if the request was sent once and must
/// not be repeated: by a 502, or by the end of its connection.
enum class OnBroken : std::uint8_t { automatic, respond, close };

/// Whether the proxy adds a `Via` field to a request. `automatic`: only if nothing else could detect a loop,
/// or if other hosts use the listener. A reason to omit Via: nginx does not compress responses to requests
/// that have it (gzip_proxied).
enum class AddVia : std::uint8_t { automatic, always, never };

/// Whether requests are sent to the upstream over HTTP/2. `automatic`: if the client uses it and the upstream
/// speaks it; a gRPC call never falls back to HTTP/1. `always`: HTTP/2 or failure; over TLS, only `h2` is
/// offered.
enum class UseHttp2 : std::uint8_t { automatic, always, never };
/// Whether REFUSED_STREAM proves that the upstream did nothing. `doubt`: for an upstream behind an
/// intermediary that sends REFUSED_STREAM after it has passed the request on.
enum class RefusedStream : std::uint8_t { trust, doubt };
/// Returns true if the failure of an HTTP/2 stream proves that the upstream did not process the request (rows
/// M29, M68 and M69). Precondition: no byte of a response had arrived.
bool proves_unprocessed(Cause, RefusedStream);

/// Which `Reprise-*` fields a response gets.
enum class ResponseHeaders : std::uint8_t {
  none,
  outcome,  ///< the number of attempts, and the reason why no further attempt was made
  all,      ///< as `outcome`, and also the id of the request
};

/// The value of `unlimited` for a size in bytes.
inline constexpr std::size_t no_size_limit = std::numeric_limits<std::size_t>::max();

/// Time limits that a route sets itself. Only these apply to its gRPC calls, because a call may be silent for
/// hours (row M89).
struct CallLimits {
  std::optional<Duration> response_timeout;
  std::optional<Duration> idle_timeout;
  std::optional<Duration> attempt_timeout;
};

struct RoutePolicy {
  Mode mode = Mode::active;
  IdempotencyRule idempotent;
  RetryPolicy retry;
  Duration connect_timeout = std::chrono::seconds(5);
  /// Maximum time to the response head, if attempt_timeout does not apply.
  Duration response_timeout = no_limit;
  Duration idle_timeout = no_limit;  ///< maximum time between two reads or writes of a body or a tunnel
  CallLimits of_calls;
  std::optional<BudgetPolicy> budget = BudgetPolicy{};
  std::optional<HedgePolicy> hedge;                ///< absent: off
  std::optional<HoldPolicy> hold;                  ///< absent: off
  std::optional<CircuitPolicy> circuit;            ///< absent: off
  WhilePaused while_paused = WhilePaused::go;      ///< the key `host_pause`: off, wait or fail
  std::size_t request_body_bytes = no_size_limit;  ///< a request with a longer body is rejected
  std::size_t replay_memory_bytes = 256 * 1024;
  ResumePolicy resume;
  std::uint64_t replay_disk_bytes = 64 * 1024 * 1024;
  TlsPolicy tls;
  /// Whether the upstream is dialled again if a tunnel ends before the upstream's first byte. Applies only if
  /// the tunnel has carried just one ClientHello.
  bool replay_client_hello = false;
  bool signature_sigv4 = false;    ///< no attempt starts after the request's signature has expired
  bool signature_one_time = true;  ///< a request with one-time credentials is not sent twice
  Ambiguous ambiguous = Ambiguous::automatic;
  OnBroken on_broken = OnBroken::automatic;
  AddVia via = AddVia::automatic;
  UseHttp2 http2 = UseHttp2::automatic;
  RefusedStream refused_stream = RefusedStream::trust;
  ResponseHeaders response_headers = ResponseHeaders::outcome;
  bool attempt_header = false;
};

/// The word of a gRPC status in `retry.on`: this prefix and the word of the status, as in `grpc-unavailable`.
inline constexpr std::string_view call_word_prefix = "grpc-";

/// Returns the policy for the gRPC calls of a route: no time limits but those that the route sets itself, no
/// resume, and always a response of this proxy if the upstream has sent none (rows M80, M89 and M91).
RoutePolicy policy_of_calls(const RoutePolicy&);

}  // namespace reprise::policy
