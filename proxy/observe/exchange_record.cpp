#include "proxy/observe/exchange_record.hpp"

#include <cstddef>
#include <variant>

namespace reprise::observe {

std::string_view word(Ending ending) {
  switch (ending) {
    case Ending::answered: return "answered";
    case Ending::cut: return "cut";
    case Ending::client_gone: break;
  }
  return "client_gone";
}

namespace {

// The answer that the client got is the last one there was: a good status, and a body that the route lists.
bool says_no(const policy::Ledger& ledger) {
  for (std::size_t i = ledger.size(); i > 0; --i) {
    if (const auto* answered = std::get_if<policy::Answered>(&ledger[i - 1].outcome))
      return answered->body_listed;
  }
  return false;
}

}  // namespace

bool is_recovered(const ExchangeRecord& record) {
  if (record.ending != Ending::answered || record.status == 0 || record.status >= 400) return false;
  return record.ledger->retried() && !says_no(*record.ledger);
}

bool is_resumed(const ExchangeRecord& record) {
  if (record.ending != Ending::answered) return false;
  const policy::Ledger& ledger = *record.ledger;
  for (std::size_t i = 0; i < ledger.size(); ++i) {
    if (ledger[i].verdict.reason == policy::Reason::resumed) return true;
  }
  return false;
}

}  // namespace reprise::observe
