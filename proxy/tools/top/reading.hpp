// Values of the admin listener's documents. A member that an older proxy does not report is absent.
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

/// Counts by word, in the order of the document.
using CountsByWord = std::vector<std::pair<std::string, std::uint64_t>>;

/// Counts since the start of the proxy, or between two readings.
struct RouteCounts {
  std::uint64_t requests = 0;
  std::uint64_t retries = 0;
  std::uint64_t recovered = 0;
  std::uint64_t exhausted = 0;
  CountsByWord refused;    ///< by reason
  CountsByWord responses;  ///< `2xx`, `cut`, ...
  /// Number of requests per bucket of `duration_bounds`; the last item is above the highest bound.
  std::vector<std::uint64_t> durations;
};

struct RouteReading {
  std::string name;
  std::string mode;
  RouteCounts counts;
  bool has_responses = false;
  bool has_durations = false;
};

/// State of one upstream. If a member is absent: full budget, closed circuit, no pause.
struct UpstreamReading {
  std::string name;
  std::uint64_t attempts = 0;
  std::optional<double> budget_left;  ///< 0 to 1
  std::string circuit;                ///< empty: closed
  std::optional<double> pause_seconds;
};

/// A host whose HTTPS could not be read, or `other`.
struct UnreadReading {
  std::string name;
  std::uint64_t tunnels = 0;
  std::string intercept;  ///< the name to add to `intercept.hosts`; empty if that would not help
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
  std::optional<std::string> config_file;  ///< absent: built-in defaults
  std::string config_hash;
  std::vector<std::string> listeners;
  std::vector<double> duration_bounds;  ///< seconds, ascending
  std::vector<RouteReading> routes;
  std::vector<UpstreamReading> upstreams;
  std::optional<ReloadReading> reload;
  std::uint64_t requests = 0;
  std::uint64_t rejected = 0;
  std::uint64_t tunnels = 0;  ///< tunnels that ended
  std::vector<UnreadReading> unread;
  std::int64_t clients = 0;
  std::optional<std::int64_t> upstream_active;  ///< number of connections
  std::optional<std::int64_t> upstream_idle;
};

/// One attempt of a request. Times are in milliseconds.
struct AttemptReading {
  std::uint64_t number = 0;
  std::string address;
  int status = 0;     ///< 0: no response
  std::string stage;  ///< where it failed
  std::string error;
  double at = 0;  ///< from the request head
  double took = 0;
  double wait = 0;  ///< before the attempt
  bool reused = false;
  std::uint64_t sent_bytes = 0;
  std::string reason;
  bool retried = false;
  double delay = 0;  ///< after the attempt, drawn between the two below
  double delay_lowest = 0;
  double delay_highest = 0;
  std::optional<std::int64_t> budget_left;  ///< retries left
};

/// One finished request, as in /stories.
struct RequestReading {
  std::string id;
  std::string time;  ///< RFC 3339
  std::string route;
  std::string client;
  std::string method;
  std::string target;  ///< URL without query; host:port for a tunnel
  int status = 0;      ///< 0: no response
  std::string ending;
  bool idempotent = false;
  bool own_response = false;
  bool recovered = false;
  bool ambiguous = false;
  std::string reason;
  std::string meaning;
  std::string advice;  ///< how to get another outcome; may be empty
  double took = 0;     ///< milliseconds
  std::uint64_t request_bytes = 0;
  std::uint64_t response_bytes = 0;
  std::vector<AttemptReading> attempts;
  std::uint64_t left_out = 0;      ///< number of attempts missing in the middle
  std::size_t before_the_gap = 0;  ///< number of attempts before the gap
};

/// The content of a document, or why it could not be read.
template <typename T>
struct Read {
  std::optional<T> value;
  std::string why;
};

/// With `charset`, every text is as `shown` returns it. If null, every text is unchanged.
Read<Status> read_status(std::string_view json, const Charset* charset);
Read<std::vector<RequestReading>> read_requests(std::string_view json, const Charset* charset);

}  // namespace reprise::tools
