#include "proxy/forward/worker/sessions.hpp"

namespace reprise::forward {

void Sessions::add(ClientSession& session) {
  session.next_ = first_;
  if (first_ != nullptr) first_->previous_ = &session;
  first_ = &session;
}

void Sessions::remove(ClientSession& session) {
  (session.previous_ != nullptr ? session.previous_->next_ : first_) = session.next_;
  if (session.next_ != nullptr) session.next_->previous_ = session.previous_;
}

}  // namespace reprise::forward
