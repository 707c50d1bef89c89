// Watches a stalled response body while the rest of the body is requested on another connection. The
// connection that first delivers a byte wins.
#pragma once

#include <optional>

#include "proxy/net/ends/upstream_end.hpp"
#include "proxy/net/io/guarded_pointer.hpp"
#include "proxy/net/io/pause.hpp"

namespace reprise::forward {

/// Waits until the body continues or ends, without reading. Must be stopped before this object or the
/// upstream's end is destroyed.
class StalledBody {
 public:
  enum class State : std::uint8_t {
    silent,
    awake,  ///< bytes have arrived: the body can be read further
    ended,  ///< closed or reset: no more bytes will arrive
  };

  explicit StalledBody(net::UpstreamEnd& upstream) : upstream_(upstream), over_(upstream.executor()) {}
  StalledBody(const StalledBody&) = delete;
  StalledBody& operator=(const StalledBody&) = delete;

  /// Registers an operation for the lifetime of this object. The operation is cancelled when bytes of the
  /// body arrive, or at once if bytes have already arrived. `body` may be null.
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
  static Task<void> run(StalledBody& body);

  net::UpstreamEnd& upstream_;
  net::Pause over_;
  net::GuardedPointer<net::Cancellable> other_;
  State state_ = State::silent;
  bool runs_ = false;
  bool stopping_ = false;
};

/// Ends a read from the upstream, which stays usable.
class EndsRead final : public net::Cancellable {
 public:
  explicit EndsRead(net::ResponseSource& upstream) : upstream_(upstream) {}
  void cancel() override { upstream_.end_read(); }

 private:
  net::ResponseSource& upstream_;
};

}  // namespace reprise::forward
