// Cancels one attempt from outside, whatever the attempt currently waits on.
#pragma once

#include "proxy/net/io/guarded_pointer.hpp"
#include "proxy/net/io/stream.hpp"

namespace reprise::net {

/// Checks about once a second whether the operation that an attempt waits on can still succeed.
class LivenessCheck {
 public:
  virtual void check_liveness() = 0;

 protected:
  ~LivenessCheck() = default;
};

/// One per attempt, used on the attempt's thread. The registered operation changes during the attempt: first
/// a lookup, then a dial, then a stream. The caller of `cancel` need not know which operation is registered.
class AttemptCancel final : public Cancellable {
 public:
  /// Registers the operation that the attempt waits on, for the lifetime of this object. At most one
  /// operation is registered at a time. If `cancel` was called before, the new operation is cancelled at
  /// once. Declare a Target after the operation's object, so that the Target is destroyed first.
  class [[nodiscard]] Target {
   public:
    Target(AttemptCancel& cancel, Cancellable& waited_on) : guard_(cancel.waited_on_, &waited_on) {
      if (cancel.stopped_) waited_on.cancel();
    }
    void end() { guard_.end(); }

   private:
    GuardedPointer<Cancellable>::Guard guard_;
  };

  /// Registers the liveness check of the registered operation, for the lifetime of this object.
  /// `liveness_check` is null if the operation has no such check.
  class [[nodiscard]] Watched {
   public:
    Watched(AttemptCancel& cancel, LivenessCheck* liveness_check)
        : guard_(cancel.liveness_check_, liveness_check) {}
    void end() { guard_.end(); }

   private:
    GuardedPointer<LivenessCheck>::Guard guard_;
  };

  /// Cancels the registered operation and every operation that is registered later.
  void cancel() override {
    stopped_ = true;
    if (Cancellable* const waited_on = waited_on_.get()) waited_on->cancel();
  }
  bool stopped() const { return stopped_; }
  void check_liveness() override {
    if (LivenessCheck* const liveness_check = liveness_check_.get()) liveness_check->check_liveness();
  }

 private:
  GuardedPointer<Cancellable> waited_on_;
  GuardedPointer<LivenessCheck> liveness_check_;
  bool stopped_ = false;
};

}  // namespace reprise::net
