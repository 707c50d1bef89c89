// The model of a simulation as values: the arriving requests, and the upstream.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "proxy/policy/decision/outcome.hpp"
#include "proxy/policy/pacing/instant.hpp"
#include "proxy/tools/simulate/model/chance.hpp"

namespace reprise::tools {

using policy::Duration;
using policy::Instant;

/// The distribution of the time for which the upstream works on one request.
struct Latency {
  enum class Kind : std::uint8_t { fixed, uniform, exponential, lognormal };
  Kind kind = Kind::fixed;
  /// First parameter of the distribution. Depending on `kind`: the fixed value, the lowest value, the mean or
  /// the median.
  Duration first = std::chrono::milliseconds(50);
  Duration highest{};  ///< only for `uniform`
  double sigma = 0;    ///< only for `lognormal`: standard deviation of the logarithm

  /// Draws a latency of at least 1 ns and at most a day.
  Duration draw(Chance&) const;
  double mean_seconds() const;
};

/// One kind of request in the mix.
struct RequestKind {
  std::string method = "GET";
  std::string host = "upstream.example";
  std::uint16_t port = 80;
  std::string path = "/";
  std::string query;
  std::vector<std::pair<std::string, std::string>> fields;
  double share = 1;     ///< fraction of all requests, 0 to 1
  bool tunnel = false;  ///< the request is a CONNECT
  bool call = false;    ///< the request is a gRPC call
};

/// The way in which attempts fail. If `hangs` is true, the upstream accepts the request and never responds.
struct Trouble {
  policy::Outcome outcome = policy::Responded{503, {}};
  bool hangs = false;
  std::string word = "503";  ///< the failure as the model file spells it
};

struct Outage {
  Duration from{};  ///< counted from the start of the run
  Duration length{};
  Trouble trouble;

  bool covers(Duration at) const { return at >= from && at < from + length; }
};

struct ErrorShare {
  double share = 0;
  Trouble trouble;
};

/// A token bucket with room for the tokens of one second. The upstream responds with 429 if there is no
/// token.
struct RateLimit {
  double per_second = 0;
  std::optional<Duration> retry_after;
};

struct Burst {
  Duration at{};
  std::uint64_t requests = 0;
};

enum class Arrivals : std::uint8_t { poisson, even };

struct Model {
  std::uint64_t seed = 1;
  // The arriving requests.
  double rate = 500;  ///< requests per second of all clients together
  Duration duration = std::chrono::seconds(60);
  Arrivals arrivals = Arrivals::poisson;
  std::vector<Burst> bursts;
  std::uint64_t clients = 20;  ///< number of clients; each has its own reprise, and so its own budgets
  std::vector<RequestKind> mix{RequestKind{}};
  std::optional<Duration> patience;  ///< time after which the application gives up
  // The upstream.
  Latency latency{Latency::Kind::lognormal, std::chrono::milliseconds(50), {}, 0.5};
  /// Maximum number of requests that the upstream serves at the same time; absent for no limit.
  std::optional<std::uint64_t> capacity = 40;
  /// Maximum number of requests that wait for a worker. The upstream responds with 503 to further requests.
  std::uint64_t queue = 200;
  /// Time for which each 503 of a full queue occupies a worker of the upstream.
  Duration refusal = std::chrono::milliseconds(20);
  std::vector<Outage> outages{{std::chrono::seconds(15), std::chrono::seconds(2), {}}};
  bool has_default_outage = true;  ///< `outages` was not given, so its times may be changed
  std::vector<ErrorShare> errors{{0.01, {}}};
  std::optional<RateLimit> limit;
};

/// Maximum number of requests in one run.
inline constexpr double most_requests = 20'000'000;
/// Maximum number of requests under way at the same time.
inline constexpr std::size_t most_under_way = 250'000;
inline constexpr std::uint64_t most_clients = 10'000;
inline constexpr Duration longest_run = std::chrono::hours(24 * 7);
/// Maximum time from the last arrival to the end of the run, even if requests are still under way.
inline constexpr Duration longest_tail = std::chrono::minutes(10);

/// A key of the model whose value does not fit the other values, and an error message that says why.
struct Contradiction {
  std::string key;
  std::string why;
};

/// Moves the default outage into a run that is too short for it, in proportion to the default duration. Never
/// changes an outage that was given.
void fit_default_outage(Model&);

/// Returns why the model cannot be run although each value is valid by itself; nothing if the model can be
/// run.
std::optional<Contradiction> contradiction(const Model&);

/// Returns how many requests per second the upstream can serve outside outages: its capacity divided by its
/// mean latency. Absent if the capacity is not limited.
std::optional<double> most_served_per_second(const Model&);
double expected_requests(const Model&);

}  // namespace reprise::tools
