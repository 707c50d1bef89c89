#include "proxy/cli/exec/exec_tally.hpp"

#include <fmt/format.h>

#include <utility>

#include "proxy/http/message/origin.hpp"
#include "proxy/telemetry/log/json_document.hpp"

namespace reprise::cli {
namespace {

// Maximum number of hosts that the summary names. Further hosts are counted as `other`.
constexpr std::size_t most_named = 16;

/// Returns true if the client got a response of the proxy itself, or an upstream response that the proxy was
/// not able to retry any more. Returns false for an upstream response with the reason `not_retryable`,
/// because such a response is no failure.
bool is_given_up(const telemetry::ExchangeRecord& record) {
  using policy::Reason;
  const Reason reason = record.ledger->reason;
  if (reason == Reason::success || reason == Reason::client_gone || telemetry::is_recovered(record))
    return false;
  return record.own_response || reason != Reason::not_retryable;
}

}  // namespace

void ExecTally::count(const telemetry::ExchangeRecord& record) {
  const std::scoped_lock lock(mutex_);
  if (telemetry::is_tunnel(record)) return count_tunnel(record);
  ++requests_;
  if (record.ledger->size() > 1) ++retried_;
  if (telemetry::is_recovered(record)) ++recovered_;
  if (!is_given_up(record)) return;
  ++given_up_;
  ++reasons_[std::string(policy::word(record.ledger->reason))];
}

void ExecTally::count_tunnel(const telemetry::ExchangeRecord& record) {
  ++tunnels_;
  if (record.carried != telemetry::Carried::tls) return;
  unread_.count(http::authority_text(record.host, record.port),
                record.can_intercept ? record.host : std::string_view());
}

std::string ExecTally::tunnel_line() const {
  std::string text;
  for (const telemetry::UnreadHost& host : unread_.list(most_named)) {
    text += fmt::format("{}{} tunnel{} to {} could not be read", text.empty() ? "" : ", ", host.tunnels,
                        host.tunnels == 1 ? "" : "s", host.name);
    if (!host.intercept.empty()) text += fmt::format(" (--intercept {})", host.intercept);
  }
  return text;
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
  json::object unread;
  for (const telemetry::UnreadHost& host : unread_.list(telemetry::UnreadHosts::most_named))
    unread[host.name] = host.tunnels;
  return telemetry::document_text(json::object{{"requests", requests_},
                                               {"retried", retried_},
                                               {"recovered", recovered_},
                                               {"given_up", given_up_},
                                               {"reasons", json::object(reasons_.begin(), reasons_.end())},
                                               {"tunnels", tunnels_},
                                               {"unread_tunnels", std::move(unread)},
                                               {"exit_code", exit_code}});
}

}  // namespace reprise::cli
