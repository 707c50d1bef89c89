#include "proxy/policy/decision/response_at_hand.hpp"

namespace reprise::policy {

void ResponseAtHand::arrives(unsigned attempt) {
  state_ = State::arriving;
  attempt_ = attempt;
}

void ResponseAtHand::kept() {
  if (state_ == State::arriving) state_ = State::whole;
}

void ResponseAtHand::connection_taken() {
  if (state_ == State::arriving) state_ = State::none;
}

}  // namespace reprise::policy
