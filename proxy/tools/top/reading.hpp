// The contents of the admin listener's documents. A member that an older proxy does not report is absent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proxy/tools/top/text.hpp"

namespace reprise::tools {

/// Counts keyed by word, in the order of the /status document.
using CountsByWord = std::vector<std::pair<std::string, std::uint64_t>>;

/// Counts of one route, since the start of the proxy or between two readings.
struct RouteCounts {
  std::uint64_t requests = 0;
  std::uint64_t retries = 0;
  std::uint64_t recovered = 0;
  std::uint64_t exhausted = 0;
  CountsByWord refused;    ///< requests that were not retried, by reason
  CountsByWord responses;  ///< requests by class of response, such as `2xx` or `cut`
  /// Number of requests in each bucket of `Status::duration_bounds`. The last item counts requests above the
  /// highest bound.
  std::vector<std::uint64_t> durations;
};

struct RouteReading {
  std::string name;
  std::string mode;
  RouteCounts counts;
  bool has_responses = false;
  bool has_durations = false;
};

/// The state of one upstream. Absent members mean a full budget, a closed circuit, and no pause.
struct UpstreamReading {
  std::string name;
  std::uint64_t attempts = 0;
  std::optional<double> budget_left;  ///< fraction of the budget that is left, 0 to 1
  std::string circuit;                ///< state of the circuit; empty if the circuit is closed
  std::optional<double> pause_seconds;
};

/// A host whose HTTPS could not be read, or `other` for further hosts.
struct UnreadReading {
  std::string name;
  std::uint64_t tunnels = 0;
  std::string intercept;  ///< host name to add to `intercept.hosts`; empty if that would not help
};

struct ReloadReading {
  bool succeeded = false;
  std::int64_t unix_time = 0;
  std::vector<std::string> errors;
};

/// The content of /status.
struct Status {
  std::string version;
  std::int64_t started = 0;  ///< seconds since 1970
  std::int64_t uptime = 0;   ///< seconds
  bool ready = false;
  bool draining = false;
  std::optional<std::string> config_file;  ///< absent if the proxy uses the built-in defaults
  std::string config_hash;
  std::vector<std::string> listeners;
  std::vector<double> duration_bounds;  ///< upper bounds of the duration buckets in seconds, ascending
  std::vector<RouteReading> routes;
  std::vector<UpstreamReading> upstreams;
  std::optional<ReloadReading> reload;
  std::uint64_t requests = 0;
  std::uint64_t rejected = 0;
  std::uint64_t tunnels = 0;  ///< number of tunnels that ended
  std::vector<UnreadReading> unread;
  std::int64_t clients = 0;
  std::optional<std::int64_t> upstream_active;  ///< number of upstream connections in use
  std::optional<std::int64_t> upstream_idle;
  std::int64_t http2_connections = 0;  ///< number of HTTP/2 connections to upstreams
  std::int64_t http2_streams = 0;
};

/// One attempt of a request. Times are in milliseconds.
struct AttemptReading {
  std::uint64_t number = 0;
  std::string address;
  int status = 0;     ///< 0 if there was no response
  std::string grpc;   ///< status of a gRPC call that ended before its first message; may be empty
  std::string stage;  ///< stage at which the attempt failed
  std::string error;
  std::string reset_code;  ///< error code of the RST_STREAM that ended the attempt; may be empty
  std::string http;        ///< HTTP version of the attempt if it is not HTTP/1
  double queued = 0;       ///< time waited for an HTTP/2 stream
  double at = 0;           ///< start of the attempt, counted from the request head
  double took = 0;
  double wait = 0;  ///< wait before the attempt
  bool reused = false;
  std::uint64_t sent_bytes = 0;
  std::string reason;
  bool retried = false;
  double delay = 0;  ///< wait after the attempt, drawn from `delay_lowest` to `delay_highest`
  double delay_lowest = 0;
  double delay_highest = 0;
  std::optional<std::int64_t> budget_left;  ///< retries left in the budget at the verdict
};

/// One finished request, as in /stories.
struct RequestReading {
  std::string id;
  std::string time;  ///< in RFC 3339 format
  std::string route;
  std::string client;
  std::string method;
  std::string target;  ///< URL without query; host:port for a tunnel
  int status = 0;      ///< 0 if there was no response
  std::string grpc;    ///< status of a gRPC call; empty for other requests, and if the response had none
  std::string ending;
  bool idempotent = false;
  bool own_response = false;
  bool recovered = false;
  bool ambiguous = false;
  std::string reason;
  std::string meaning;
  std::string advice;  ///< how to get another outcome; may be empty
  double took = 0;     ///< duration in milliseconds
  std::uint64_t request_bytes = 0;
  std::uint64_t response_bytes = 0;
  std::vector<AttemptReading> attempts;
  std::uint64_t left_out = 0;      ///< number of attempts omitted from the middle of the list
  std::size_t before_the_gap = 0;  ///< number of attempts listed before the omitted ones
};

/// The content of an admin listener's document, or the reason why the document could not be read.
template <typename T>
struct Read {
  std::optional<T> value;
  std::string why;
};

/// Parses /status. If `charset` is not null, converts every text with `shown`; otherwise keeps texts
/// unchanged.
Read<Status> read_status(std::string_view json, const Charset* charset);
Read<std::vector<RequestReading>> read_requests(std::string_view json, const Charset* charset);

}  // namespace reprise::tools
