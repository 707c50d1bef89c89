// The plan of each request: what the client sends, and what the upstream does at each attempt. Both are drawn
// from the seed and the request's number alone.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "proxy/policy/match/enumerators.hpp"
#include "tests/support/chance.hpp"

namespace reprise::soak {

using play::Chance;

/// Purposes for which random numbers are drawn. Each purpose has its own stream.
enum class Purpose : std::uint8_t { plan = 1, fate, commit, performance, connection, flaps, tunnel };

/// What the client does with its request.
enum class Behaviour : std::uint8_t {
  plain,
  slow_upload,         // sends its body in pieces, with pauses
  slow_reader,         // reads the response in pieces, with pauses
  leaves_early,        // resets the connection while the upstream is silent
  leaves_in_upload,    // resets the connection after half of the body
  leaves_in_response,  // resets the connection inside a long response
  half_closes,         // sends FIN after the request
  expects,             // waits for a 100 before it sends the body
  pipelined,           // sends several GETs in one write
  tunnels,             // sends CONNECT, then sends and receives content
  ambiguous,           // sends a request that must be rejected
};
inline constexpr std::size_t behaviour_count = policy::count_of<Behaviour>;

/// What the upstream does at one attempt, after it has read the head.
enum class Fate : std::uint8_t {
  fine,
  unavailable,            // 503
  unavailable_asks,       // 503, Retry-After: 1
  unavailable_later,      // 503, Retry-After: 3600
  too_many,               // 429
  silence,                // no response until the proxy closes the connection
  closed_before_head,     // FIN after the whole request
  lost,                   // the request takes effect, then RST
  reset_in_request,       // RST at some byte of the body
  eof_in_head,            // half of a response head, then FIN
  reset_in_head,          // half of a response head, then RST
  junk_head,              // not HTTP
  head_too_large,         // above every limit
  body_fin,               // FIN before the announced length of the body
  body_reset,             // RST before the announced length of the body
  chunk_cut,              // FIN inside a chunk
  no_last_chunk,          // FIN after a chunk
  bad_chunk,              // an invalid chunk size
  interim_then_eof,       // 103, FIN
  interim_flood,          // more interim responses than the proxy accepts
  early_response,         // 200 before the body was read
  early_refusal,          // 503 before the body was read
  extra_bytes,            // surplus bytes after the response
  two_responses,          // a second, unsolicited response
  dribble,                // the response in pieces of a few bytes
  close_delimited,        // response without a length, FIN at the end
  close_delimited_reset,  // response without a length, RST before the end
  leaves_after,           // FIN after the response, without `Connection: close`
};
inline constexpr std::size_t fate_count = policy::count_of<Fate>;

std::string_view word(Behaviour);
std::string_view word(Fate);

/// The upstream's port to which a request goes.
enum class Listener : std::uint8_t { steady, flapping, tunnel };

struct Plan {
  std::uint64_t number = 0;
  Behaviour behaviour = Behaviour::plain;
  std::string_view method = "GET";
  /// Length in bytes of the request body, of a GET's response, or of each direction of a tunnel.
  std::uint64_t size = 0;
  bool chunked = false;   ///< chunked coding of the request body, or of the response to a GET
  bool keyed = false;     ///< a POST that the route treats as idempotent
  bool held = false;      ///< the route of the request holds responses
  bool validated = true;  ///< the response has a strong ETag
  Listener listener = Listener::steady;

  bool sends_body() const { return method == "PUT" || method == "POST"; }
  /// Returns true if the request may take effect at most once.
  bool once() const { return method == "POST" && !keyed; }
  std::string path() const;
};

/// How requests are drawn. If `lost_posts` is set, GETs and POSTs alternate: each GET leaves a reusable
/// connection, and the POST after it takes effect at its first attempt but gets no response.
struct Mix {
  std::uint64_t seed = 0;
  bool lost_posts = false;
};

/// A request whose number modulo `pipeline_every` is below `pipeline_depth` is a GET of a pipeline. A
/// pipeline is sent in one write.
inline constexpr std::uint64_t pipeline_every = 97;
inline constexpr std::uint64_t pipeline_depth = 3;

Plan plan_of(const Mix&, std::uint64_t number);
Fate fate_of(const Mix&, const Plan&, unsigned attempt);
/// Returns the number of body bytes after which the request takes effect, from 0 to the size of the body.
std::uint64_t commit_byte(const Mix&, const Plan&, unsigned attempt);

}  // namespace reprise::soak
