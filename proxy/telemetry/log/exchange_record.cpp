#include "proxy/telemetry/log/exchange_record.hpp"

#include <cstddef>
#include <variant>

namespace reprise::telemetry {

std::string_view word(Ending ending) {
  switch (ending) {
    case Ending::complete: return "complete";
    case Ending::cut: return "cut";
    case Ending::client_gone: break;
  }
  return "client_gone";
}

std::string_view word(Carried carried) {
  switch (carried) {
    case Carried::nothing: return "nothing";
    case Carried::requests: return "requests";
    case Carried::tls: return "tls";
    case Carried::upgraded: return "upgraded";
    case Carried::bytes: break;
  }
  return "bytes";
}

namespace {

// Returns true if the client got a response whose body the route's settings define as an error. That response
// is the last one in the ledger.
bool has_error_body(const policy::Ledger& ledger) {
  const policy::Responded* last = nullptr;
  for (std::size_t i = 0; i < ledger.size(); i = ledger.next(i)) {
    if (const auto* responded = std::get_if<policy::Responded>(&ledger[i].outcome)) last = responded;
  }
  return last != nullptr && last->body_listed;
}

}  // namespace

bool is_recovered(const ExchangeRecord& record) {
  if (record.ending != Ending::complete || record.status == 0 || record.status >= 400) return false;
  if (record.is_call && record.grpc != policy::GrpcStatus::ok) return false;
  return record.ledger->retried() && !has_error_body(*record.ledger);
}

bool is_resumed(const ExchangeRecord& record) {
  if (record.ending != Ending::complete) return false;
  const policy::Ledger& ledger = *record.ledger;
  const policy::Evicted* evicted = ledger.evicted();
  if (evicted != nullptr && evicted->retries[static_cast<std::size_t>(policy::Reason::resumed)] > 0)
    return true;
  for (std::size_t i = 0; i < ledger.size(); i = ledger.next(i)) {
    if (ledger[i].verdict.reason == policy::Reason::resumed) return true;
  }
  return false;
}

}  // namespace reprise::telemetry
