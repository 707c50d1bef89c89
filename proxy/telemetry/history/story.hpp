// The story of one finished request as it is told afterwards:
// who asked, every attempt, every wait, and why it ended so.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/policy/decision/upstream_address.hpp"
#include "proxy/telemetry/log/exchange_record.hpp"

namespace reprise::telemetry {

/// One attempt. Spans are from the request's head.
struct StoryAttempt {
  unsigned number = 1;
  bool reused = false;  ///< its connection had carried another request before
  bool may_have_sent = false;
  policy::UpstreamAddress address;
  std::uint64_t sent_bytes = 0;  ///< of head and body that the kernel has taken
  policy::Outcome outcome;       ///< without `Failed::why`
  policy::Duration started{};
  policy::Duration ended{};
  policy::Duration wait{};     ///< before it
  policy::Verdict verdict;     ///< after it
  policy::WaitRange bounds{};  ///< between what the verdict's delay was drawn; zero: it was not drawn
  float budget_left = 0;       ///< retries, when it was decided on; infinite without a budget
};

/// Owns its text, every piece of which is clipped (json_text.hpp)
/// and may hold what a client or an upstream chose.
struct Story {
  std::uint64_t number = 0;
  std::string id;  ///< Stories::id_of
  std::size_t route = 0;
  std::string route_name;
  std::string method;
  std::string host;
  std::uint16_t port = 0;
  std::string path;             ///< without query; empty where `log.path` keeps it out
  std::string client;           ///< address:port
  std::string request_id;       ///< the client's own, X-Request-Id
  std::string traceparent;      ///< well-formed, or empty
  std::int64_t ended_wall = 0;  ///< nanoseconds since 1970
  policy::Duration took{};
  Ending ending = Ending::answered;
  int status = 0;
  bool idempotent = false;  ///< as its rule says, before its body was looked into
  bool own_response = false;
  bool tunnel = false;
  bool over_tls = false;
  bool recovered = false;
  bool ambiguous = false;
  policy::Reason reason = policy::Reason::success;
  policy::HedgeOutcome hedge = policy::HedgeOutcome::none;
  policy::Reason hedge_refusal = policy::Reason::success;
  std::uint64_t request_bytes = 0;
  std::uint64_t response_bytes = 0;
  std::vector<StoryAttempt> attempts;       ///< the first ones and the last ones
  std::uint64_t attempts_left_out = 0;      ///< between them
  std::size_t attempts_before_the_gap = 0;  ///< where that is not 0
};

/// True for a request that has more to tell than its status: tried again, given up, cut, failed, or denied.
bool is_worth_telling(const ExchangeRecord&);

/// One JSON object (RFC 8259), without a line end. `advice`: what would change it, in words; may be empty.
/// Spans are in milliseconds.
void append_story_json(std::string& out, const Story&, std::string_view advice);

}  // namespace reprise::telemetry
