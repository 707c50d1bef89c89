// A body that has stalled, its connection kept open while the rest is asked for on another: whichever of the
// two brings a byte first is kept.
#pragma once

#include <optional>

#include "proxy/net/io/guarded_pointer.hpp"
#include "proxy/net/io/pause.hpp"

namespace reprise::forward {

/// Listens without reading. Must be stopped before it, or the stream, is destroyed.
class StalledBody {
 public:
  enum class State : std::uint8_t {
    silent,
    awake,  ///< something has come: it can be read on
    ended,  ///< closed or reset: nothing more will come
  };

  explicit StalledBody(net::Stream& stream) : stream_(stream), over_(stream.executor()) {}
  StalledBody(const StalledBody&) = delete;
  StalledBody& operator=(const StalledBody&) = delete;

  /// Names what is cancelled when the body wakes, for as long as it lives; at once where it has woken.
  class [[nodiscard]] Race {
   public:
    Race(StalledBody* body, net::Cancellable& other) {
      if (body == nullptr) return;
      guard_.emplace(body->other_, &other);
      if (body->state_ == State::awake) other.cancel();
    }

   private:
    std::optional<net::GuardedPointer<net::Cancellable>::Guard> guard_;
  };

  void start();
  Task<void> stop();
  State state() const { return state_; }

 private:
  static Task<void> listen(StalledBody& body);

  net::Stream& stream_;
  net::Pause over_;
  net::GuardedPointer<net::Cancellable> other_;
  State state_ = State::silent;
  bool runs_ = false;
  bool stopping_ = false;
};

/// Ends the read of a stream, and leaves the stream as it is.
class EndsRead final : public net::Cancellable {
 public:
  explicit EndsRead(net::Stream& stream) : stream_(stream) {}
  void cancel() override { stream_.end_read(); }

 private:
  net::Stream& stream_;
};

}  // namespace reprise::forward
