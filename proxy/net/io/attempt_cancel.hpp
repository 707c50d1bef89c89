// Stops one attempt from outside, whatever it waits on at the moment.
#pragma once

#include "proxy/net/io/guarded_pointer.hpp"
#include "proxy/net/io/stream.hpp"

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
class AttemptCancel final : public Cancellable {
 public:
  /// Names what the attempt waits on, for as long as it lives; one at a time. What is named after `cancel` is
  /// ended at once. Declared after what it names, so that it goes first.
  class [[nodiscard]] Target {
   public:
    Target(AttemptCancel& cancel, Cancellable& waited_on) : guard_(cancel.waited_on_, &waited_on) {
      if (cancel.stopped_) waited_on.cancel();
    }
    void end() { guard_.end(); }

   private:
    GuardedPointer<Cancellable>::Guard guard_;
  };

  /// Names who looks whether the attempt waits in vain, for as long as it lives; null: nobody.
  class [[nodiscard]] Watched {
   public:
    Watched(AttemptCancel& cancel, Lookout* lookout) : guard_(cancel.lookout_, lookout) {}
    void end() { guard_.end(); }

   private:
    GuardedPointer<Lookout>::Guard guard_;
  };

  /// Ends what is waited on now, and whatever comes after it.
  void cancel() override {
    stopped_ = true;
    if (Cancellable* const waited_on = waited_on_.get()) waited_on->cancel();
  }
  bool stopped() const { return stopped_; }
  void look_out() override {
    if (Lookout* const lookout = lookout_.get()) lookout->look_out();
  }

 private:
  GuardedPointer<Cancellable> waited_on_;
  GuardedPointer<Lookout> lookout_;
  bool stopped_ = false;
};

}  // namespace reprise::net
