#include "proxy/observe/exchange_record.hpp"

namespace reprise::observe {

std::string_view word(Ending ending) {
  switch (ending) {
    case Ending::answered: return "answered";
    case Ending::cut: return "cut";
    case Ending::client_gone: break;
  }
  return "client_gone";
}

bool is_recovered(const ExchangeRecord& record) {
  if (record.ending != Ending::answered || record.status == 0 || record.status >= 400) return false;
  return record.ledger->retried();
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
