#include "proxy/net/dial/happy_eyeballs.hpp"

namespace reprise::net {

HappyEyeballs::Step HappyEyeballs::next(Instant now) {
  const bool may_dial = !has_winner_ && !cancelled_ && begun_ < addresses_;
  if (may_dial && (under_way_ == 0 || now >= next_turn_)) {
    next_turn_ = now + dial_stagger;
    ++under_way_;
    return Dial{begun_++};
  }
  if (under_way_ == 0) return Over{};
  return Wait{may_dial ? next_turn_ : Instant::max()};
}

void HappyEyeballs::failed(policy::Cause cause) {
  assert(under_way_ > 0);
  --under_way_;
  failure_ = cause;
  next_turn_ = Instant::min();
}

bool HappyEyeballs::connected() {
  assert(under_way_ > 0);
  --under_way_;
  if (has_winner_ || cancelled_) return false;
  has_winner_ = true;
  return true;
}

}  // namespace reprise::net
