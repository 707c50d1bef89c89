// How long one attempt may take to come to a connection.
#pragma once

#include <algorithm>
#include <optional>

#include "proxy/policy/pacing/instant.hpp"

namespace reprise::net {

using policy::Duration;
using policy::Instant;

/// One per attempt (decision 0014, row L6): `connect_timeout` for each step, twice that for all addresses
/// together, and nothing past the request's deadline: until a connection stands nothing was sent, so that
/// nothing is lost by it. A value; no clock of its own.
class ConnectTime {
 public:
  /// `each`: connect_timeout. `deadline`: the request's; absent: nothing but `each` bounds it.
  explicit ConnectTime(Duration each, std::optional<Instant> deadline = std::nullopt)
      : each_(each), end_(deadline.value_or(Instant::max())) {}

  /// Of one step that begins now: a look-up, a dial, a parent proxy's response to CONNECT. 0: too late.
  Duration for_step(Instant now) const {
    return std::clamp(now < end_ ? end_ - now : Duration::zero(), Duration::zero(), each_);
  }
  Instant end_of_step(Instant now) const { return now + for_step(now); }
  /// The handshake has what its own dial has left, and the other addresses.
  Instant end_of_handshake(Instant dial_began) const { return std::min(dial_began + each_, end_); }
  /// The addresses are known, and the first is dialled now.
  void dialling(Instant now) { end_ = std::min(end_, now + 2 * each_); }
  bool is_over(Instant now) const { return now >= end_; }
  Duration each() const { return each_; }

 private:
  Duration each_;
  Instant end_;
};

}  // namespace reprise::net
