// A pointer that points at something only while a guard of it lives.
#pragma once

#include <cassert>

namespace reprise::net {

/// Set by a `Guard`, one at a time; null otherwise. When a thread ends, the frames of coroutines that were
/// spawned apart are destroyed in no order: a guard may then outlive its pointer. So each of the two knows
/// the other, and whichever goes first lets go of the other.
template <typename T>
class GuardedPointer {
 public:
  class [[nodiscard]] Guard {
   public:
    /// `what` may be null, and must outlive the guard, or `end()`.
    Guard(GuardedPointer& pointer, T* what) : pointer_(&pointer), what_(what) {
      assert(pointer.guard_ == nullptr);
      pointer.guard_ = this;
    }
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;
    ~Guard() { end(); }

    /// Sooner than the guard's scope does.
    void end() {
      if (pointer_ != nullptr) pointer_->guard_ = nullptr;
      pointer_ = nullptr;
    }

   private:
    friend GuardedPointer;

    mutable GuardedPointer* pointer_;  ///< null once either has ended; of a guard that is const, too
    T* what_;
  };

  GuardedPointer() = default;
  GuardedPointer(const GuardedPointer&) = delete;
  GuardedPointer& operator=(const GuardedPointer&) = delete;
  ~GuardedPointer() {
    if (guard_ != nullptr) guard_->pointer_ = nullptr;
  }

  T* get() const { return guard_ == nullptr ? nullptr : guard_->what_; }

 private:
  Guard* guard_ = nullptr;
};

}  // namespace reprise::net
