// What `explain` says of the limits that every request lives under, whatever becomes of it.
#include <fmt/format.h>

#include <algorithm>

#include "config/keys/scalar.hpp"
#include "proxy/policy/decision/gates.hpp"
#include "proxy/tools/explain/explain_report.hpp"

namespace reprise::tools {
namespace {

using config::duration_text;
using config::size_text;
using policy::WhilePaused;

bool is_repeatable(const ExplainReport& report) {
  const Explanation& told = report.explanation;
  return policy::is_repeatable(told.facts, report.route().policy, told.held);
}

std::string replay(const ExplainReport& report) {
  const policy::RoutePolicy& policy = report.route().policy;
  const policy::Facts& facts = report.explanation.facts;
  const bool repeats = facts.idempotent == policy::Idempotency::yes || policy::repeats_after_refusal(policy);
  if (policy.mode == policy::Mode::off || !repeats) return "no body is held: nothing could send it again";
  const std::uint64_t disk =
      std::min(policy::disk_share(facts, policy), std::uint64_t{report.limits.replay_disk_bytes});
  const std::uint64_t memory =
      std::min<std::uint64_t>(policy.replay_memory_bytes, report.limits.replay_memory_bytes);
  std::string text = fmt::format("a body of up to {} is held in memory", size_text(memory));
  if (disk > 0) text += fmt::format(", a longer one of up to {} on disk", size_text(disk));
  return text + fmt::format("; those of all requests together: {} and {}",
                            size_text(report.limits.replay_memory_bytes),
                            size_text(report.limits.replay_disk_bytes));
}

std::string connecting(const ExplainReport& report) {
  const policy::RoutePolicy& policy = report.route().policy;
  std::string text =
      fmt::format("{} to connect to one address, {} for all of them", duration_text(policy.connect_timeout),
                  duration_text(2 * policy.connect_timeout));
  if (policy.retry.deadline) text += "; name, dial and TLS end at the deadline";
  return text;
}

std::string answering(const ExplainReport& report) {
  const policy::RoutePolicy& policy = report.route().policy;
  if (is_repeatable(report) && policy.retry.attempt_timeout) {
    return fmt::format("{} from the last request byte to the response head (attempt_timeout){}",
                       duration_text(*policy.retry.attempt_timeout),
                       policy.retry.deadline ? ", or the deadline" : "");
  }
  const std::string_view why =
      policy.retry.attempt_timeout ? ": an attempt that cannot be repeated is not cut" : "";
  if (policy.response_timeout == policy::no_limit)
    return fmt::format("as long as the upstream takes (response_timeout: none){}", why);
  return fmt::format("{} from the last request byte to the response head (response_timeout){}",
                     duration_text(policy.response_timeout), why);
}

std::string connection(const ExplainReport& report) {
  if (is_repeatable(report))
    return "any idle one; if it was stale (stale_connection), once again at once on a fresh one";
  return "a fresh one for the first such request of a client connection, then also one that was used in the "
         "last second: what must not be sent twice shall not meet a stale one";
}

std::string circuit(const policy::CircuitPolicy& circuit) {
  return fmt::format(
      "opens where {:g}% of at least {} attempts within {} failed; for {} then nothing is sent "
      "(circuit_open)",
      circuit.failures * 100, circuit.requests, duration_text(circuit.window), duration_text(circuit.open));
}

std::string host_pause(WhilePaused what, const policy::RetryPolicy& retry) {
  if (what == WhilePaused::fail)
    return "while the upstream has asked for a pause nothing is sent (host_paused)";
  return fmt::format(
      "while the upstream has asked for a pause every attempt waits for its end and up to {} more",
      duration_text(retry.backoff.initial));
}

}  // namespace

std::vector<ReportedLimit> limits_of(const ExplainReport& report) {
  const policy::RoutePolicy& policy = report.route().policy;
  std::vector<ReportedLimit> limits;
  if (!report.question.tunnel) limits.push_back({"replay", replay(report)});
  limits.push_back({"connect", connecting(report)});
  if (!report.question.tunnel) {
    limits.push_back({"answer", answering(report)});
    limits.push_back({"connection", connection(report)});
  }
  // A route that is off or only observes is not stopped by what it has no part in.
  const policy::HostParts parts = policy::host_parts(policy);
  if (parts.circuit) limits.push_back({"circuit", circuit(*policy.circuit)});
  if (parts.pause) limits.push_back({"host pause", host_pause(policy.while_paused, policy.retry)});
  return limits;
}

}  // namespace reprise::tools
