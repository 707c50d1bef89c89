// The response that the client gets if later attempts bring no better one. Used while an exchange waits and
// retries.
#pragma once

#include <cstdint>
#include <optional>

namespace reprise::policy {

/// Owned by `Exchange`.
///
///   state     event                  next
///   any       arrives                arriving
///   arriving  kept                   whole
///   arriving  connection_taken       none
/// In the states `none` and `whole`, the events `kept` and `connection_taken` change nothing.
class ResponseAtHand {
 public:
  /// Reports that the response head of that attempt has arrived. Discards an older response.
  void arrives(unsigned attempt);
  /// Reports that the response was read to its end and is held.
  void kept();
  /// Reports that the connection of the response is no longer available. Discards the response unless it was
  /// read to its end.
  void connection_taken();
  /// Returns the number of the attempt that brought the response; nothing if there is no response.
  std::optional<unsigned> attempt() const {
    return state_ == State::none ? std::nullopt : std::optional(attempt_);
  }

 private:
  enum class State : std::uint8_t { none, arriving, whole };

  State state_ = State::none;
  unsigned attempt_ = 0;
};

}  // namespace reprise::policy
