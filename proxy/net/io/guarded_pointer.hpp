// A pointer that is set only while its guard exists.
#pragma once

#include <cassert>

namespace reprise::net {

/// Points to an object while a Guard for that object exists, and is null otherwise. At most one Guard exists
/// at a time. At the end of a thread the frames of detached coroutines are destroyed in no defined order, so
/// a guard may outlive its pointer. Guard and pointer therefore refer to each other. Whichever ends first
/// clears the reference in the other.
template <typename T>
class GuardedPointer {
 public:
  class [[nodiscard]] Guard {
   public:
    /// `what` may be null. It must stay valid until the guard ends.
    Guard(GuardedPointer& pointer, T* what) : pointer_(&pointer), what_(what) {
      assert(pointer.guard_ == nullptr);
      pointer.guard_ = this;
    }
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;
    ~Guard() { end(); }

    /// Ends the guard before its scope ends.
    void end() {
      if (pointer_ != nullptr) pointer_->guard_ = nullptr;
      pointer_ = nullptr;
    }

   private:
    friend GuardedPointer;

    /// Null once the guard or the pointer has ended. Mutable, because the pointer clears it in const guards
    /// too.
    mutable GuardedPointer* pointer_;
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
