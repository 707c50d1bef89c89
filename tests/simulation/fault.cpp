#include "tests/simulation/fault.hpp"

#include <algorithm>
#include <utility>

#include "tests/simulation/purpose.hpp"

namespace reprise::simulation {
namespace {

constexpr std::array<std::string_view, fault_count> words{"resolve_fails",
                                                          "resolve_slow",
                                                          "resolve_mixed_with_denied",
                                                          "resolve_rebinds",
                                                          "name_moves",
                                                          "resolve_several",
                                                          "connect_refused",
                                                          "connect_unreachable",
                                                          "connect_silent",
                                                          "connect_slow",
                                                          "reset_after_accept",
                                                          "no_local_port",
                                                          "no_descriptor",
                                                          "write_short",
                                                          "reset_inside_request",
                                                          "request_unread",
                                                          "reset_after_request",
                                                          "head_silent",
                                                          "head_slow",
                                                          "eof_before_head",
                                                          "eof_inside_head",
                                                          "reset_inside_head",
                                                          "head_junk",
                                                          "head_too_large",
                                                          "interim_flood",
                                                          "interim_then_eof",
                                                          "early_response",
                                                          "response_before_request",
                                                          "two_responses",
                                                          "misdirected",
                                                          "status_503",
                                                          "retry_after",
                                                          "says_no",
                                                          "error_in_body",
                                                          "error_in_head",
                                                          "body_fin",
                                                          "body_reset",
                                                          "body_stalls",
                                                          "body_too_long",
                                                          "body_shorter_than_said",
                                                          "bad_chunk",
                                                          "no_last_chunk",
                                                          "range_lies",
                                                          "idle_close",
                                                          "idle_bytes",
                                                          "hidden_idle_limit",
                                                          "silent_death",
                                                          "dead_at_rest",
                                                          "client_fin",
                                                          "client_reset",
                                                          "client_stalls_reading",
                                                          "client_stalls_writing",
                                                          "client_pipelines",
                                                          "clock_jumps",
                                                          "disk_full",
                                                          "disk_error",
                                                          "memory_spent",
                                                          "drain",
                                                          "termination",
                                                          "handshake_silent",
                                                          "handshake_cut",
                                                          "handshake_junk",
                                                          "certificate_bad",
                                                          "write_uncounted",
                                                          "fin_without_notice"};

}  // namespace

std::string_view word(Fault fault) { return words[static_cast<std::size_t>(fault)]; }

Faults::Faults(Seed seed, std::vector<std::uint32_t> left_out) : left_out_(std::move(left_out)) {
  Chance chance(seed, Purpose::swarm);
  // One story in eight goes without: there nothing may fail at all.
  if (chance.one_in(8)) return;
  for (std::size_t kind = 0; kind < fault_count; ++kind) kinds_.set(kind, chance.one_in(2));
}

bool Faults::plays(Fault kind, bool drawn) {
  if (!drawn || over_ || !knows(kind)) return false;
  const std::uint32_t number = next_++;
  if (std::binary_search(left_out_.begin(), left_out_.end(), number)) return false;
  ++counts_[static_cast<std::size_t>(kind)];
  return true;
}

}  // namespace reprise::simulation
