// The simulated world as values: what comes, and what the upstream is like.
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

/// How long the upstream works on one request that it takes.
struct Latency {
  enum class Kind : std::uint8_t { fixed, uniform, exponential, lognormal };
  Kind kind = Kind::fixed;
  Duration first = std::chrono::milliseconds(50);  ///< the value, the lowest, the mean, or the median
  Duration highest{};                              ///< of `uniform`
  double sigma = 0;                                ///< of `lognormal`: deviation of the logarithm

  /// At least 1 ns, at most a day.
  Duration draw(Chance&) const;
  double mean_seconds() const;
};

/// One kind of request of the mix.
struct RequestKind {
  std::string method = "GET";
  std::string host = "upstream.example";
  std::uint16_t port = 80;
  std::string path = "/";
  std::string query;
  std::vector<std::pair<std::string, std::string>> fields;
  double share = 1;     ///< of all, 0 to 1
  bool tunnel = false;  ///< CONNECT
};

/// What an attempt meets that goes wrong. `hangs`: taken, and never answered.
struct Trouble {
  policy::Outcome outcome = policy::Answered{503, {}};
  bool hangs = false;
  std::string word = "503";  ///< as written
};

struct Outage {
  Duration from{};  ///< from the start of the run
  Duration length{};
  Trouble trouble;

  bool covers(Duration at) const { return at >= from && at < from + length; }
};

struct ErrorShare {
  double share = 0;
  Trouble trouble;
};

/// A token bucket that holds one second's worth. What it has no room for is answered 429.
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
  // What comes.
  double rate = 500;  ///< requests a second, of all clients
  Duration duration = std::chrono::seconds(60);
  Arrivals arrivals = Arrivals::poisson;
  std::vector<Burst> bursts;
  std::uint64_t clients = 20;  ///< each with a reprise, and so with budgets, of its own
  std::vector<RequestKind> mix{RequestKind{}};
  std::optional<Duration> patience;  ///< after so long the application gives up
  // The upstream.
  Latency latency{Latency::Kind::lognormal, std::chrono::milliseconds(50), {}, 0.5};
  std::optional<std::uint64_t> capacity = 40;  ///< requests that it works on at a time; absent: any number
  std::uint64_t queue = 200;                   ///< that wait for it; what comes then is answered 503
  Duration refusal = std::chrono::milliseconds(20);  ///< the work that such a 503 costs it
  std::vector<Outage> outages{{std::chrono::seconds(15), std::chrono::seconds(2), {}}};
  std::vector<ErrorShare> errors{{0.01, {}}};
  std::optional<RateLimit> limit;
};

/// Requests that may be asked for in one run, and that may be under way in it at a time.
inline constexpr double most_requests = 20'000'000;
inline constexpr std::size_t most_under_way = 250'000;
inline constexpr std::uint64_t most_clients = 10'000;
inline constexpr Duration longest_run = std::chrono::hours(24 * 7);
/// So long after the last arrival the run ends, whatever is still under way.
inline constexpr Duration longest_tail = std::chrono::minutes(10);

/// A key of the model, and what is wrong with its value.
struct Impossible {
  std::string key;
  std::string why;
};

/// What makes the model one that cannot be run, where every value by itself is right.
std::optional<Impossible> contradiction(const Model&);

/// How many the upstream can serve in a second without trouble; absent: any number.
std::optional<double> most_served_per_second(const Model&);
double expected_requests(const Model&);

}  // namespace reprise::tools
