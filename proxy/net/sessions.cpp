// All sessions of a loop together: their list, and what shutdown tells them.
#include "proxy/net/session.hpp"

namespace reprise::net {

void drain(Loop& loop) {
  loop.draining = true;
  loop.pool.close();
  loop.sessions.each([](Session& session) { session.drain(); });
}

void abort(Loop& loop) {
  loop.sessions.each([](Session& session) { session.abort(); });
}

void Sessions::add(Session& session) {
  session.next_ = first_;
  if (first_ != nullptr) first_->previous_ = &session;
  first_ = &session;
}

void Sessions::remove(Session& session) {
  (session.previous_ != nullptr ? session.previous_->next_ : first_) = session.next_;
  if (session.next_ != nullptr) session.next_->previous_ = session.previous_;
}

}  // namespace reprise::net
