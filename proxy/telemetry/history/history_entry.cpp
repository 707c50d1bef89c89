#include "proxy/telemetry/history/history_entry.hpp"

#include <cmath>

#include "proxy/telemetry/log/grpc_call.hpp"

namespace reprise::telemetry {

bool is_notable(const ExchangeRecord& record) {
  const policy::Ledger& ledger = *record.ledger;
  return ledger.size() > 1 || ledger.reason != policy::Reason::success || record.ending != Ending::complete ||
         record.status >= 500 || ledger.ambiguous || (record.grpc && is_server_error(*record.grpc));
}

}  // namespace reprise::telemetry
