// The response that the client gets if nothing better follows, while an exchange waits and tries again.
#pragma once

#include <cstdint>
#include <optional>

namespace reprise::policy {

/// `Exchange` owns one.
///
///   state     event                  next
///   any       arrives                arriving
///   arriving  kept                   whole
///   arriving  connection_taken       none
///   none, whole: the last two change nothing
class ResponseAtHand {
 public:
  /// The head of that attempt's response is there; an older response is discarded.
  void arrives(unsigned attempt);
  /// The response was read whole, and is held.
  void kept();
  /// The rest of a response that is not whole cannot be read any more.
  void connection_taken();
  /// Number of the attempt that brought it, if there is one.
  std::optional<unsigned> attempt() const {
    return state_ == State::none ? std::nullopt : std::optional(attempt_);
  }

 private:
  enum class State : std::uint8_t { none, arriving, whole };

  State state_ = State::none;
  unsigned attempt_ = 0;
};

}  // namespace reprise::policy
