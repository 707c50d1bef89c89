// One finished request as the request history reports it: the client, every attempt, every wait, and why it
// ended.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "proxy/policy/decision/attempt_limit.hpp"
#include "proxy/policy/decision/upstream_address.hpp"
#include "proxy/telemetry/log/exchange_record.hpp"

namespace reprise::telemetry {

/// One attempt. Times are measured from the request head.
struct HistoryAttempt {
  unsigned number = 1;
  bool reused = false;  ///< the connection had carried a request before
  bool may_have_sent = false;
  policy::UpstreamAddress address;
  std::uint64_t sent_bytes = 0;  ///< bytes of head and body that the kernel accepted
  bool http2 = false;            ///< the attempt used HTTP/2
  policy::Duration queued{};     ///< how long the attempt waited for an HTTP/2 stream
  policy::Outcome outcome;       ///< `Failed::why` is set only for `stream_reset`
  policy::Duration started{};
  policy::Duration ended{};
  policy::Duration wait{};  ///< time waited before the attempt
  policy::Verdict verdict;  ///< decision after the attempt
  /// Range from which the verdict's delay was drawn; zero if the delay was not drawn.
  policy::WaitRange bounds{};
  float budget_left = 0;  ///< retries left in the budget at the verdict; infinite without a budget
};

/// A finished request as the history returns it. Owns its texts. Each text may come from a client or
/// an upstream, and is clipped (json_text.hpp). `path` is empty if the setting `log.path` excludes paths.
struct HistoryEntry : ExchangeNumbers, ExchangeTexts<std::string>, policy::Conclusion {
  std::string id;  ///< id of the request (RequestHistory::id_of)
  std::string route_name;
  bool recovered = false;                   ///< result of is_recovered() for the request
  std::vector<HistoryAttempt> attempts;     ///< the first and the last attempts
  std::uint64_t attempts_left_out = 0;      ///< number of middle attempts that are not in `attempts`
  std::size_t attempts_before_the_gap = 0;  ///< index in `attempts` at which the middle attempts are missing
};

/// Returns the limit of attempts that ended the request, if its reason is `attempts_spent`.
policy::AttemptLimit limit_of(const HistoryEntry&);

/// Returns why the request ended, as one sentence for people.
std::string_view meaning_of(const HistoryEntry&);

/// Returns true if the request is worth reporting: it was retried, refused a retry, cut, failed or denied.
bool is_notable(const ExchangeRecord&);

}  // namespace reprise::telemetry
