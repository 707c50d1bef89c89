#include "proxy/policy/decision/delivered_body.hpp"

#include <utility>

namespace reprise::policy {

ResumeHistory DeliveredBody::history(Duration wait) const {
  return {in_vain_, in_vain_ == 0 ? Duration::zero() : wait};
}

void DeliveredBody::broke(const Break& what, Ledger& ledger, Instant now) {
  LedgerEntry& broken = ledger[attempt_ - 1];
  if (what.progress || !what.stays_open) stalled_.reset();
  if (what.stays_open && !stalled_)
    stalled_ = Stalled{attempt_, broken.outcome, broken.verdict, ledger.reason};
  broken.outcome = Failed{Stage::body, what.cause};
  broken.ended = now;
  continuable_ = what.continuable;
  if (what.progress) in_vain_ = 0;
}

std::optional<DeliveredBody::Stalled> DeliveredBody::went_on(Ledger& ledger) {
  auto body = std::exchange(stalled_, std::nullopt);
  if (!body) return body;
  ledger[body->attempt - 1].outcome = body->outcome;
  attempt_ = body->attempt;
  in_vain_ = 0;
  return body;
}

}  // namespace reprise::policy
