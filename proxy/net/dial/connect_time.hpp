// The time that one attempt may spend on connecting.
#pragma once

#include <algorithm>
#include <optional>

#include "proxy/policy/pacing/instant.hpp"

namespace reprise::net {

using policy::Duration;
using policy::Instant;

/// One per attempt (decision 0014, row L6). Each step has `connect_timeout`, all addresses together have
/// twice that time, and no step goes past the request's deadline. Stopping at the deadline is safe, because
/// no byte of the request is sent before a connection is established. Reads no clock: the caller passes the
/// current time.
class ConnectTime {
 public:
  /// `each`: connect_timeout. `deadline`: the request's deadline, if it has one.
  explicit ConnectTime(Duration each, std::optional<Instant> deadline = std::nullopt)
      : each_(each), end_(deadline.value_or(Instant::max())) {}

  /// Returns the time for one step that begins now: a lookup, a dial, or a parent proxy's response to
  /// CONNECT. 0 if the deadline has passed.
  Duration for_step(Instant now) const {
    return std::clamp(now < end_ ? end_ - now : Duration::zero(), Duration::zero(), each_);
  }
  Instant end_of_step(Instant now) const { return now + for_step(now); }
  /// Returns when a handshake must end: `connect_timeout` after the dial of its connection began, but not
  /// after the deadline or the end of the time that all addresses share.
  Instant end_of_handshake(Instant dial_began) const { return std::min(dial_began + each_, end_); }
  /// Starts the time limit that all addresses share. Call when the addresses are known and the first address
  /// is dialled.
  void dialling(Instant now) { end_ = std::min(end_, now + 2 * each_); }
  bool is_over(Instant now) const { return now >= end_; }
  Duration each() const { return each_; }

 private:
  Duration each_;
  Instant end_;
};

}  // namespace reprise::net
