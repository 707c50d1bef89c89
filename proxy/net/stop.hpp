// Stops one attempt from outside, whatever it waits on at the moment.
#pragma once

#include "proxy/net/stream.hpp"

namespace reprise::net {

/// Looks, about once a second, whether what an attempt waits for can still come.
class Lookout {
 public:
  virtual void look_out() = 0;

 protected:
  ~Lookout() = default;
};

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
  void look_out() override {
    if (lookout_ != nullptr) lookout_->look_out();
  }
  /// Who looks whether the attempt waits in vain; null: nobody.
  void set_lookout(Lookout* lookout) { lookout_ = lookout; }
  /// Null while there is nothing to end. What is set after `cancel` is ended at once.
  void aim_at(Cancellable* waited_on) {
    waited_on_ = waited_on;
    if (stopped_ && waited_on != nullptr) waited_on->cancel();
  }

 private:
  Cancellable* waited_on_ = nullptr;
  Lookout* lookout_ = nullptr;
  bool stopped_ = false;
};

}  // namespace reprise::net
