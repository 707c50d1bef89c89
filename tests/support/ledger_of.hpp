// Makes the ledger of a request whose attempts all had the same outcome.
#pragma once

#include "proxy/policy/decision/ledger.hpp"

namespace reprise::play {

inline policy::Ledger ledger_of(const policy::Outcome& outcome, policy::Reason reason,
                                unsigned attempts = 1) {
  policy::Ledger ledger;
  for (unsigned number = 1; number <= attempts; ++number) {
    policy::LedgerEntry entry;
    entry.attempt.number = number;
    entry.outcome = outcome;
    ledger.add(entry);
  }
  ledger.reason = reason;
  return ledger;
}

}  // namespace reprise::play
