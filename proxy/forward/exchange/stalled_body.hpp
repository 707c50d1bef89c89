// A body that has stalled, its connection kept open while the rest is asked for on another: whichever of the
// two brings a byte first is kept.
#pragma once

#include <optional>

#include "proxy/cancellation/guarded_pointer.hpp"
#include "proxy/io/pause.hpp"

namespace reprise::net {

/// Listens without reading. Must be stopped before it, or the stream, is destroyed.
class StalledBody {
 public:
  enum class State : std::uint8_t {
    silent,
    awake,  ///< something has come: it can be read on
    ended,  ///< closed or reset: nothing more will come
  };

  explicit StalledBody(Stream& stream) : stream_(stream), over_(stream.executor()) {}
  StalledBody(const StalledBody&) = delete;
  StalledBody& operator=(const StalledBody&) = delete;

  /// Names what is cancelled when the body wakes, for as long as it lives; at once where it has woken.
  class [[nodiscard]] Race {
   public:
    Race(StalledBody* body, Cancellable& other) {
      if (body == nullptr) return;
      guard_.emplace(body->other_, &other);
      if (body->state_ == State::awake) other.cancel();
    }

   private:
    std::optional<GuardedPointer<Cancellable>::Guard> guard_;
  };

  void start();
  Task<void> stop();
  State state() const { return state_; }

 private:
  static Task<void> listen(StalledBody& body);

  Stream& stream_;
  Pause over_;
  GuardedPointer<Cancellable> other_;
  State state_ = State::silent;
  bool runs_ = false;
  bool stopping_ = false;
};

/// Ends the read of a stream, and leaves the stream as it is.
class EndsRead final : public Cancellable {
 public:
  explicit EndsRead(Stream& stream) : stream_(stream) {}
  void cancel() override { stream_.end_read(); }

 private:
  Stream& stream_;
};

}  // namespace reprise::net
