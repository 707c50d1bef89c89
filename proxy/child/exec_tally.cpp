#include "proxy/child/exec_tally.hpp"

#include <fmt/format.h>

namespace reprise::cli {
namespace {

/// A response of our own in place of the upstream's, or one that was kept although it failed: for any reason
/// but that nothing was wrong with it.
bool is_given_up(const observe::ExchangeRecord& record) {
  using policy::Reason;
  const Reason reason = record.ledger->reason;
  if (reason == Reason::success || reason == Reason::client_gone || observe::is_recovered(record))
    return false;
  return record.own_response || reason != Reason::not_retryable;
}

}  // namespace

void ExecTally::count(const observe::ExchangeRecord& record) {
  const std::scoped_lock lock(mutex_);
  ++requests_;
  if (record.ledger->size() > 1) ++retried_;
  if (observe::is_recovered(record)) ++recovered_;
  if (!is_given_up(record)) return;
  ++given_up_;
  ++reasons_[std::string(policy::word(record.ledger->reason))];
}

std::string ExecTally::line() const {
  const std::scoped_lock lock(mutex_);
  std::string text = fmt::format("{} requests, {} retried, {} recovered", requests_, retried_, recovered_);
  if (given_up_ == 0) return text;
  text += fmt::format(", {} given up:", given_up_);
  for (const auto& [reason, count] : reasons_) {
    text += " " + reason;
    if (reasons_.size() > 1) text += fmt::format(" ({})", count);
  }
  return text;
}

std::string ExecTally::json(int exit_code) const {
  const std::scoped_lock lock(mutex_);
  std::string reasons;
  for (const auto& [reason, count] : reasons_)
    reasons += fmt::format("{}\"{}\":{}", reasons.empty() ? "" : ",", reason, count);
  return fmt::format(
      R"({{"requests":{},"retried":{},"recovered":{},"given_up":{},"reasons":{{{}}},"exit_code":{}}})",
      requests_, retried_, recovered_, given_up_, reasons, exit_code);
}

}  // namespace reprise::cli
