// The kinds of fault that a simulation of the whole proxy can contain. Each story (one simulated run) plays
// some of these kinds or none.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <string_view>
#include <vector>

#include "proxy/policy/match/enumerators.hpp"
#include "tests/simulation/purpose.hpp"

namespace reprise::simulation {

/// Each enumerator has one row in the table of coverage marks.
enum class Fault : std::uint8_t {
  resolve_fails,
  resolve_slow,
  resolve_mixed_with_denied,
  resolve_rebinds,
  name_moves,  // the dialled address refuses all later dials
  resolve_several,
  connect_refused,
  connect_unreachable,
  connect_silent,
  connect_slow,
  reset_after_accept,
  no_local_port,
  no_descriptor,
  write_short,
  reset_inside_request,
  request_unread,
  reset_after_request,
  head_silent,
  head_slow,
  eof_before_head,
  eof_inside_head,
  reset_inside_head,
  head_junk,
  head_too_large,
  interim_flood,
  interim_then_eof,
  early_response,
  response_before_request,
  two_responses,
  misdirected,
  status_503,
  retry_after,
  says_no,
  error_in_body,
  error_in_head,
  body_fin,
  body_reset,
  body_stalls,
  body_too_long,
  body_shorter_than_said,
  bad_chunk,
  no_last_chunk,
  range_lies,
  idle_close,
  idle_bytes,
  hidden_idle_limit,  // every connection that is idle for a fixed time is closed
  silent_death,       // from a random moment on, no byte arrives in either direction
  dead_at_rest,       // after a response, no further byte arrives in either direction
  client_fin,
  client_reset,
  client_stalls_reading,
  client_stalls_writing,
  client_pipelines,
  clock_jumps,
  disk_full,
  disk_error,
  memory_spent,
  drain,
  termination,
  handshake_silent,
  handshake_cut,
  handshake_junk,
  certificate_bad,
  write_uncounted,     // over TLS: bytes are sent, but the write reports a failure
  fin_without_notice,  // over TLS: FIN without close_notify
  // over HTTP/2:
  not_http2,         // the response to the preface is HTTP/1
  settings_missing,  // no SETTINGS, but the connection stays open
  settings_late,
  streams_limited,    // MAX_CONCURRENT_STREAMS is 0, 1 or 3
  limit_changes,      // a second SETTINGS changes MAX_CONCURRENT_STREAMS
  stream_refused,     // RST_STREAM(REFUSED_STREAM)
  stream_reset,       // RST_STREAM with another code
  needs_http1,        // RST_STREAM(HTTP_1_1_REQUIRED)
  goaway,             // GOAWAY, often with a last stream below those that are open
  goaway_announced,   // a GOAWAY with the highest stream number comes first
  goaway_with_error,  // GOAWAY with an error code, and the connection ends
  violation,          // a frame that HTTP/2 does not allow
};

inline constexpr std::size_t fault_count = policy::count_of<Fault>;

/// Returns the name of the enumerator.
std::string_view word(Fault);

/// How often each kind was played.
using FaultCounts = std::array<std::uint64_t, fault_count>;

/// Decides which faults a story plays. Seven of eight stories play a random half of the kinds; the rest play
/// none. Faults can be left out by number, to shorten a failing story.
class Faults {
 public:
  Faults(Seed seed, std::vector<std::uint32_t> left_out);

  /// Returns true if the fault happens now. If `drawn` is true and the story plays the kind, the fault gets
  /// the next number. It then happens unless this number is left out.
  bool plays(Fault kind, bool drawn);
  /// Ends all faults.
  void end() { over_ = true; }
  bool over() const { return over_; }
  bool knows(Fault kind) const { return kinds_.test(static_cast<std::size_t>(kind)); }

  /// Returns how many faults happened or were left out.
  std::uint32_t played() const { return next_; }
  const FaultCounts& counts() const { return counts_; }

 private:
  std::bitset<fault_count> kinds_;
  std::vector<std::uint32_t> left_out_;  ///< numbers of the faults to leave out, sorted
  std::uint32_t next_ = 0;
  bool over_ = false;
  FaultCounts counts_{};
};

}  // namespace reprise::simulation
