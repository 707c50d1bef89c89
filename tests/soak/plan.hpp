// What request number N is and what the upstream does on each
// of its attempts: drawn from the seed and the number alone.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "proxy/policy/match/enumerators.hpp"
#include "tests/support/chance.hpp"

namespace reprise::soak {

using play::Chance;

/// What numbers are drawn for: each purpose has a stream of its own.
enum class Purpose : std::uint8_t { plan = 1, fate, commit, performance, connection, flaps, tunnel };

/// What the client does with its request.
enum class Behaviour : std::uint8_t {
  plain,
  slow_upload,         // its body leaves in pieces, with pauses
  slow_reader,         // reads the response in pieces, with pauses
  leaves_early,        // RST while the upstream is silent
  leaves_in_upload,    // RST after half of the body
  leaves_in_response,  // RST after the first bytes of a long response
  half_closes,         // FIN behind the request
  expects,             // waits for 100 before it sends the body
  pipelined,           // one of several GETs in one write
  tunnels,             // CONNECT, then content both ways
  ambiguous,           // a request that must be refused
};
inline constexpr std::size_t behaviour_count = policy::count_of<Behaviour>;

/// What the upstream does on one attempt, once it has its head.
enum class Fate : std::uint8_t {
  fine,
  unavailable,            // 503
  unavailable_asks,       // 503, Retry-After: 1
  unavailable_later,      // 503, Retry-After: 3600
  too_many,               // 429
  silence,                // no response until the other side has had enough
  closed_before_head,     // FIN after the whole request
  lost,                   // the request takes effect, then RST
  reset_in_request,       // RST at some byte of the body
  eof_in_head,            // half a head, FIN
  reset_in_head,          // half a head, RST
  junk_head,              // no HTTP
  head_too_large,         // over every limit
  body_fin,               // FIN before the promised length
  body_reset,             // RST before the promised length
  chunk_cut,              // FIN inside a chunk
  no_last_chunk,          // FIN behind a chunk
  bad_chunk,              // a size that is none
  interim_then_eof,       // 103, FIN
  interim_flood,          // more interim responses than anybody takes
  early_response,         // 200 before the body was read
  early_refusal,          // 503 before the body was read
  extra_bytes,            // bytes behind the response
  two_responses,          // a second response that nobody asked for
  dribble,                // the response in pieces of a few bytes
  close_delimited,        // no length, FIN at the end
  close_delimited_reset,  // no length, RST before the end
  leaves_after,           // FIN on a connection that it had promised to keep
};
inline constexpr std::size_t fate_count = policy::count_of<Fate>;

std::string_view word(Behaviour);
std::string_view word(Fate);

/// Which of the upstream's ports a request goes to.
enum class Listener : std::uint8_t { steady, flapping, tunnel };

struct Plan {
  std::uint64_t number = 0;
  Behaviour behaviour = Behaviour::plain;
  std::string_view method = "GET";
  std::uint64_t size = 0;  ///< of the body, of a GET's response, or of each way of a tunnel; bytes
  bool chunked = false;    ///< the request body, or the response to a GET
  bool keyed = false;      ///< a POST that its route calls idempotent
  bool held = false;       ///< its route holds responses back
  bool validated = true;   ///< the response has a strong ETag
  Listener listener = Listener::steady;

  bool sends_body() const { return method == "PUT" || method == "POST"; }
  /// At most one effect is allowed.
  bool once() const { return method == "POST" && !keyed; }
  std::string path() const;
};

/// How requests are drawn. `lost_posts`: nothing but POSTs whose first attempt takes effect and is lost, each
/// behind a GET that leaves a reused connection.
struct Mix {
  std::uint64_t seed = 0;
  bool lost_posts = false;
};

/// Numbers whose remainder by this is below `pipeline_depth` are GETs that leave in one write.
inline constexpr std::uint64_t pipeline_every = 97;
inline constexpr std::uint64_t pipeline_depth = 3;

Plan plan_of(const Mix&, std::uint64_t number);
Fate fate_of(const Mix&, const Plan&, unsigned attempt);
/// The byte of the request body at which the request takes effect: from 0 to its size.
std::uint64_t commit_byte(const Mix&, const Plan&, unsigned attempt);

}  // namespace reprise::soak
