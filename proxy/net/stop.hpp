// Stops one attempt from outside, whatever it waits on at the moment.
#pragma once

#include "proxy/net/stream.hpp"

namespace reprise::net {

/// One per attempt, on the attempt's thread. What the attempt waits on changes (a lookup, a dial, a stream);
/// who stops it need not know.
class Stop final : public Cancellable {
 public:
  /// Ends what is waited on now, and whatever comes after it.
  void cancel() override {
    stopped_ = true;
    if (waited_on_ != nullptr) waited_on_->cancel();
  }
  bool stopped() const { return stopped_; }
  /// Null while there is nothing to end. What is set after `cancel` is ended at once.
  void aim_at(Cancellable* waited_on) {
    waited_on_ = waited_on;
    if (stopped_ && waited_on != nullptr) waited_on->cancel();
  }

 private:
  Cancellable* waited_on_ = nullptr;
  bool stopped_ = false;
};

}  // namespace reprise::net
